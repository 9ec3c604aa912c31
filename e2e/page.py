#!/usr/bin/env python3
"""The page in a real browser, behind a real guard: a failure is followed from the overview to its
sample, resolved, and seen to come back; who has no business there is kept out.

    e2e/page.py [--screenshots DIRECTORY] -- /path/to/breakfall

`--screenshots` takes the pictures of docs/ instead, of the days that `cargo run --example page` makes up.
"""

import argparse
import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from servers import NODE, ROOT, TOOLS
from wire import Wire, command_line, text

try:
    from playwright.sync_api import sync_playwright
except ImportError:
    python = TOOLS / "venv-browser/bin/python"
    if not python.exists() or Path(sys.prefix) == python.parent.parent:
        sys.exit("error: there is no browser driver; `cargo xtask servers` installs it")
    os.execv(python, [str(python), *sys.argv])

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
EVIL = "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 2'>.txt"

# What a page must have that is read aloud, and the contrast of every text on it.
UNNAMED = """() => {
  const named = (it) => it.getAttribute("aria-label") || it.getAttribute("aria-labelledby") ||
    it.labels?.length || it.textContent.trim() || it.getAttribute("title") || it.type === "hidden";
  const wrong = [...document.querySelectorAll("a, button, input, select, svg[role=img], nav")]
    .filter((it) => !named(it)).map((it) => it.outerHTML.slice(0, 80));
  if (document.querySelectorAll("h1").length !== 1) wrong.push("not one h1");
  if (document.querySelectorAll("main").length !== 1) wrong.push("not one main");
  for (const it of document.querySelectorAll("table"))
    if (!it.caption || it.querySelector("th:not([scope])")) wrong.push("a table without names");
  for (const it of document.querySelectorAll("img:not([alt])")) wrong.push(it.outerHTML);
  const ids = [...document.querySelectorAll("[id]")].map((it) => it.id);
  wrong.push(...ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `twice: ${id}`));
  return wrong;
}"""
PALE = """() => {
  const parse = (colour) => (colour.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => {
    const part = (v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const ground = (it) => {
    for (; it; it = it.parentElement) {
      const colour = parse(getComputedStyle(it).backgroundColor);
      if (colour.length === 3 || colour[3] > 0.99) return colour;
    }
    return [255, 255, 255];
  };
  const pale = [];
  for (const it of document.querySelectorAll("body *")) {
    const says = [...it.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!says || !it.checkVisibility()) continue;
    const svg = it.namespaceURI.endsWith("svg");
    if (svg && it.tagName !== "text") continue;
    const style = getComputedStyle(it);
    const [one, other] = [light(parse(svg ? style.fill : style.color)), light(ground(it))].sort().reverse();
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (contrast < 4.5) pale.push(`${it.tagName}.${it.className}: ${contrast.toFixed(2)}`);
  }
  return [...new Set(pale)];
}"""


class Checks:
    """What passed and what did not."""

    def __init__(self):
        self.passed, self.failed = 0, 0

    def that(self, name, holds, told=""):
        if holds:
            self.passed += 1
            print(f"ok   {name}", flush=True)
        else:
            self.failed += 1
            print(f"FAIL {name}: {told!r}"[:1500], flush=True)


def eventually(holds, seconds=15):
    """What is waited for, or what there is when nobody waits longer."""
    until = time.monotonic() + seconds
    while not (found := holds()) and time.monotonic() < until:
        time.sleep(0.05)
    return found


class Guarded(Wire):
    """A guard with its page, and what it said on standard error."""

    def __init__(self, command, variables):
        super().__init__(command, variables, stderr=subprocess.PIPE)
        self.said = []
        threading.Thread(target=self._read, daemon=True).start()
        self.initialize()

    def _read(self):
        for line in self.process.stderr:
            self.said.append(line.decode())

    def link(self):
        found = eventually(lambda: re.findall(r"http://\S+", "".join(self.said)))
        if not found:
            raise SystemExit(f"error: no link was printed: {self.said}")
        return found[0]


def answer(address, method="GET", path="/", headers=None, body=None):
    """The status of a request that says exactly this, and the headers of its answer."""
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=10)
    connection.putrequest(method, path, skip_host="Host" in (headers or {}))
    for name, value in (headers or {}).items():
        connection.putheader(name, value)
    connection.putheader("Content-Length", str(len(body or "")))
    connection.endheaders((body or "").encode())
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.status, response.headers


def elsewhere(html):
    """Another site: it serves one page."""

    class Site(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/"


def chromium():
    for name in BROWSERS:
        if found := shutil.which(name):
            return found
    sys.exit("error: there is no Chromium; `cargo xtask servers` installs it")


def launched(playwright):
    # A container's user may be root, for whom Chromium's own sandbox does not start.
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    return playwright.chromium.launch(executable_path=chromium(), args=options)


def door(check, link, address, cookie):
    """Who is kept out, whatever he says."""
    host = f"{address.hostname}:{address.port}"
    for name, headers, wanted in [
        ("without a token", {}, 401),
        ("with a wrong token", {"Authorization": "Bearer " + "0" * 64}, 401),
        ("under another name", {"Cookie": cookie, "Host": "evil.example.com"}, 421),
        ("under another name with our port", {"Cookie": cookie, "Host": f"evil.example.com:{address.port}"}, 421),
        ("from another site", {"Cookie": cookie, "Origin": "http://evil.example.com"}, 403),
        ("from nowhere", {"Cookie": cookie, "Origin": "null"}, 403),
        ("from another port of this machine", {"Cookie": cookie, "Origin": "http://127.0.0.1:1"}, 403),
        ("with the cookie", {"Cookie": cookie, "Origin": f"http://{host}"}, 200),
        ("with the token", {"Authorization": f"Bearer {parse_qs(address.query)['token'][0]}"}, 200),
    ]:
        status, got = answer(address, headers=headers)
        policy = got.get("content-security-policy", "")
        check.that(f"who comes {name} gets {wanted}", status == wanted and "default-src 'none'" in policy, (status, policy))
    form = {"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"}
    status, _ = answer(address, "POST", "/groups/x/state", form, "state=resolved")
    check.that("a cookie alone changes nothing", status == 403, status)


def followed(check, page, guard, path):
    """From the overview to the sample, resolved, and back again."""
    page.goto(page.base + "/")
    page.wait_for_selector("#live.on")
    page.evaluate("window.stayed = true")
    reply = text(guard.ask("read_text_file", {"path": f"{path}/{EVIL}"}))
    row = page.locator("tr[data-group]", has_text="read_text_file")
    row.first.wait_for(timeout=15000)
    check.that("a failure arrives without a reload", page.evaluate("window.stayed") is True)
    page.locator("#news p").first.wait_for(timeout=15000)
    check.that("news are told", "New failure: read_text_file" in page.locator("#news").text_content())

    row.first.locator("a.open").click()
    page.wait_for_selector(".sample[open]")
    blocks = page.locator(".sample[open] pre").all_text_contents()
    check.that("the sample says what the model was told", blocks[0].strip() == reply.strip(), (blocks[0], reply))
    check.that("a script in an error is shown as text", "<script>window.pwned" in "".join(blocks), blocks)
    scripts = page.evaluate("[...document.scripts].map((it) => it.src)")
    check.that("it is not run", page.evaluate("window.pwned") is None and len(scripts) == 1, scripts)

    page.locator(".sample[open] dd a").first.click()
    page.wait_for_selector("ol.steps li")
    check.that("its run is shown", page.locator("ol.steps li.failed").count() == 1, page.content())
    page.locator("ol.steps a").first.click()
    page.wait_for_selector("#to-resolved")
    page.click("#to-resolved")
    page.wait_for_selector(".act .state.resolved")
    check.that("it is resolved", page.locator("#to-open").count() == 1)
    page.goto(page.base + "/groups")
    check.that("and gone from the open ones", page.locator("tr[data-group]").count() == 0, page.content())
    page.wait_for_selector("#live.on")
    guard.ask("read_text_file", {"path": f"{path}/{EVIL}"})
    page.locator("tr[data-group] .badge", has_text="back").wait_for(timeout=15000)
    check.that("it opens when it comes back, and a browser sees it", True)


def other_site(check, browser, link, page, context):
    """What a page of another site can do with the user's own browser: nothing."""
    group = page.locator("tr[data-group]").first.get_attribute("data-group")
    site = elsewhere(f"""<form id=f method=post action="{page.base}/groups/{group}/state">
        <input name=state value=ignored></form><p id=said></p><script>
        fetch("{page.base}/", {{credentials: "include"}}).then((r) => r.text())
          .then((t) => said.textContent = "read " + t.length, () => said.textContent = "refused");
        fetch("{page.base}/groups/{group}/state", {{method: "POST", mode: "no-cors",
          credentials: "include", body: new URLSearchParams({{state: "ignored"}})}});
        </script>""")
    other = context.new_page()
    other.goto(site)
    other.wait_for_function("said.textContent !== ''")
    check.that("another site cannot read the page", other.text_content("#said") == "refused", other.text_content("#said"))
    with other.expect_navigation() as sent:
        other.evaluate("document.getElementById('f').submit()")
    check.that("nor send its forms", sent.value.status in (401, 403), sent.value.status)
    # Ports make no other site: the cookie would be sent along.
    other.goto(elsewhere(f"<iframe src='{page.base}/'></iframe>"))
    framed = eventually(lambda: len(other.frames) == 2 and other.frames[1].evaluate("document.readyState") == "complete")
    check.that("nor put it into a frame", framed and "Failures" not in other.frames[1].content(), other.frames[-1].content())
    other.close()
    page.goto(f"{page.base}/groups/{group}")
    check.that("and has changed nothing", page.locator(".act .state.open").count() == 1, page.content())


def keyboard(check, page):
    page.goto(page.base + "/")
    page.wait_for_selector("#live.on")
    page.keyboard.press("Tab")
    check.that("the first Tab is the way past the head", page.evaluate("document.activeElement.className") == "skip")
    page.keyboard.press("Enter")
    check.that("which leads to the content", page.evaluate("document.activeElement.id") == "main")
    page.keyboard.press("?")
    check.that("`?` shows the keys", page.locator("#keys").is_visible())
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    with page.expect_navigation():
        page.keyboard.press("f")
    page.wait_for_selector("#live.on")
    page.keyboard.press("j")
    ring = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    check.that("a row in focus is seen to be", page.evaluate("document.activeElement.className") == "open" and ring == "solid", ring)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    page.wait_for_selector(".sample")
    check.that("`g f`, `j` and Enter open a failure", "/groups/" in page.url, page.url)
    page.keyboard.press("d")
    page.reload()
    check.that("dark stays dark", page.evaluate("document.documentElement.dataset.theme") == "dark")
    page.keyboard.press("d")


def screens(page):
    group = page.locator("tr[data-group]").first.get_attribute("data-group")
    run = page.request.get(page.base + "/runs").text()
    run = re.search(r'href="(/runs\?run=[^"]+)"', run).group(1)
    return ["/", "/groups", f"/groups/{group}", "/tools", "/breakers", "/runs", run, "/groups?q=nothing", "/no/such/page"]


def looks(check, browser, link, page):
    """Every screen, narrow and wide, light and dark."""
    page.goto(page.base + "/groups")
    paths = screens(page)
    for width in (1280, 390):
        for scheme in ("light", "dark"):
            context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
            one = context.new_page()
            one.goto(link)
            for path in paths:
                one.goto(page.base + path)
                name = f"{path.split('?')[0]} at {width} in the {scheme}"
                wide = one.evaluate("document.documentElement.scrollWidth - innerWidth")
                check.that(f"{name} needs no scrolling sideways", wide <= 0, wide)
                pale = one.evaluate(PALE)
                check.that(f"{name} has enough contrast", not pale, pale)
                if (width, scheme) == (1280, "light"):
                    unnamed = one.evaluate(UNNAMED)
                    check.that(f"{name} can be read aloud", not unnamed, unnamed)
            context.close()


def without_script(check, browser, link, base):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(link)
    page.click("nav >> text=Failures")
    page.locator("a.open").first.click()
    page.click("#to-ignored")
    page.wait_for_selector(".act .state.ignored")
    check.that("a failure is ignored without a script", page.url.startswith(base + "/groups/"), page.url)
    page.click("#to-open")
    page.wait_for_selector(".act .state.open")
    check.that("and opened again", True)
    context.close()


def metrics(check, link, base):
    """What Prometheus reads: with the token, and only with it."""
    token = parse_qs(urlsplit(link).query)["token"][0]
    asked = urllib.request.Request(base + "/metrics", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(asked) as answer:
        kind, text = answer.headers["Content-Type"], answer.read().decode()
    check.that("`/metrics` is Prometheus' text", kind.startswith("text/plain; version=0.0.4"), kind)
    check.that("and counts the failures", "breakfall_failures_total{" in text, text)
    try:
        urllib.request.urlopen(base + "/metrics")
        check.that("and is kept from others", False)
    except urllib.error.HTTPError as refused:
        check.that("and is kept from others", refused.code == 401, refused.code)


def run(check, browser, program, folder):
    allowed = folder / "allowed"
    allowed.mkdir()
    variables = {"XDG_DATA_HOME": str(folder / "data")}
    guard = Guarded([program, "guard", "--dashboard", "--", f"{NODE}/mcp-server-filesystem", str(allowed)], variables)
    link = guard.link()
    address = urlsplit(link)
    base = f"http://{address.netloc}"
    context = browser.new_context()
    page = context.new_page()
    page.base = base
    requests, complaints = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(link)
    check.that("the address is clean", page.url == base + "/", page.url)
    check.that("an empty page says what to do", "breakfall guard --" in page.content() or "No calls" in page.content())
    cookie = context.cookies()[0]
    check.that("the cookie is out of reach", cookie["httpOnly"] and cookie["sameSite"] == "Strict", cookie)
    check.that("and is not the token", cookie["value"] not in link, cookie)
    followed(check, page, guard, allowed)
    metrics(check, link, base)
    other_site(check, browser, link, page, context)
    keyboard(check, page)
    door(check, link, address, f"{cookie['name']}={cookie['value']}")
    looks(check, browser, link, page)
    without_script(check, browser, link, base)
    foreign = [url for url in requests if not url.startswith(base)]
    check.that("nobody else is asked for anything", not foreign, foreign)
    # The icon of a page that does not exist, and the like, are no complaints of a browser's.
    check.that("the browser has nothing to complain of", not complaints, complaints)

    page.goto(base + "/groups")
    page.wait_for_selector("#live.on")
    guard.close()
    page.wait_for_selector("#live:not(.on)")
    check.that("a page whose guard is gone says so", page.text_content("#live") == "not live")
    check.that("the link was printed once", "".join(guard.said).count("token=") == 1, guard.said)
    context.close()
    alone(check, browser, program, variables)


def alone(check, browser, program, variables):
    """`breakfall dashboard` shows what the guard has left."""
    process = subprocess.Popen([program, "dashboard"], stderr=subprocess.PIPE, env=os.environ | variables)
    try:
        link = re.search(r"http://\S+", process.stderr.readline().decode()).group(0)
        page = browser.new_page()
        page.goto(link)
        check.that("`breakfall dashboard` shows the same store", page.locator("tr[data-group]").count() == 1, page.content())
        page.close()
    finally:
        process.terminate()
        check.that("and ends when it is told to", process.wait(10) == 0, process.returncode)
    for options, words in [(["--listen", "0.0.0.0:0"], "can be reached by others"), (["--tls-cert", "x"], "--tls-key")]:
        refused = subprocess.run([program, "dashboard", *options], capture_output=True, text=True, timeout=20, env=os.environ | variables)
        check.that(f"`{' '.join(options)}` is refused", refused.returncode != 0 and words in refused.stderr, refused.stderr)


def small(path):
    """Fewer colours: a picture of a page has few."""
    try:
        from PIL import Image
    except ImportError:
        return
    Image.open(path).convert("RGB").quantize(255, dither=Image.Dither.NONE).save(path, optimize=True)


def pictures(browser, directory):
    """The pictures of docs/, of days that are made up."""
    directory.mkdir(parents=True, exist_ok=True)
    build = ["cargo", "build", "--quiet", "--package", "breakfall-examples", "--example", "page"]
    subprocess.run(build, check=True, cwd=ROOT)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    process = subprocess.Popen([target / "debug/examples/page"], stdout=subprocess.PIPE, text=True)
    try:
        link = next(found.group(0) for line in process.stdout if (found := re.search(r"http://\S+", line)))
        base = f"http://{urlsplit(link).netloc}"
        for name, width, height, scheme, path in [
            ("overview", 1280, 900, "light", "/"),
            ("failure", 1280, 900, "dark", "/groups?q=connect"),
            ("phone", 390, 844, "light", "/"),
        ]:
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
            page = context.new_page()
            page.goto(link)
            page.goto(base + path)
            page.wait_for_selector("#live.on")
            if "q=" in path:
                page.locator("a.open").first.click()
                page.wait_for_selector("#live.on")
            page.screenshot(path=directory / f"{name}.png")
            small(directory / f"{name}.png")
            context.close()
    finally:
        process.send_signal(2)
        process.wait(10)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--screenshots", type=Path, metavar="DIRECTORY")
    own, program = command_line(sys.argv[1:])
    options = parser.parse_args(own)
    with sync_playwright() as playwright:
        browser = launched(playwright)
        if options.screenshots:
            pictures(browser, options.screenshots)
            return
        if not program:
            parser.error("give the program after `--`")
        check = Checks()
        with tempfile.TemporaryDirectory() as folder:
            run(check, browser, program[0], Path(folder))
        browser.close()
    print(f"{check.passed} passed, {check.failed} failed")
    sys.exit(1 if check.failed else 0)


if __name__ == "__main__":
    main()
