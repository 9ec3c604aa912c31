// What the page does beyond its pages: news as they come, keys, light and dark. Everything else
// works without it. Foreign text is only ever set as text.
"use strict";

(() => {
  const root = document.documentElement;
  root.classList.add("scripted");

  const kept = (name) => { try { return localStorage.getItem(name); } catch { return null; } };
  const keep = (name, value) => { try { localStorage.setItem(name, value); } catch { /* not kept */ } };

  // Light and dark: before anything is drawn.
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const chosen = kept("breakfall-theme");
  if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches);

  document.addEventListener("DOMContentLoaded", () => {
    const byId = (id) => document.getElementById(id);
    const theme = byId("theme");
    const nameTheme = () => { 
      theme.textContent = isDark() ? "Light" : "Dark";
      theme.setAttribute("aria-label", `Switch to ${theme.textContent.toLowerCase()}`);
    };
    const turn = () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      keep("breakfall-theme", root.dataset.theme);
      nameTheme();
    };
    theme.addEventListener("click", turn);
    prefersDark.addEventListener("change", nameTheme);
    nameTheme();

    const live = byId("live");
    if (!live) return;

    // The same page again, from the server; only what differs is put in.
    let asking = false, again = false;
    const isBusy = (part) => {
      const at = document.activeElement;
      const types = at && part.contains(at) && at.matches("input, select, textarea");
      const marked = getSelection();
      return types || (marked && !marked.isCollapsed && part.contains(marked.anchorNode));
    };
    const put = (part, fresh) => {
      if (part.innerHTML === fresh.innerHTML || isBusy(part)) return;
      const at = part.contains(document.activeElement) ? document.activeElement : null;
      const place = at && (at.id ? `#${CSS.escape(at.id)}` : at.href ? `a[href="${CSS.escape(at.getAttribute("href"))}"]` : null);
      const folded = [...part.querySelectorAll("details[id]")].map((one) => [one.id, one.open]);
      part.replaceChildren(...fresh.childNodes);
      for (const [id, open] of folded) byId(id)?.toggleAttribute("open", open);
      if (place) part.querySelector(place)?.focus({ preventScroll: true });
    };
    const refresh = async () => {
      if (asking) { again = true; return; }
      asking = true;
      try {
        const response = await fetch(location.href, { headers: { accept: "text/html" }, cache: "no-store" });
        if (response.status === 401) { location.reload(); return; }
        const page = new DOMParser().parseFromString(await response.text(), "text/html");
        for (const part of document.querySelectorAll("[data-live]")) {
          const fresh = page.getElementById(part.id);
          if (fresh) put(part, document.importNode(fresh, true));
        }
      } catch { /* the next event asks again */ }
      asking = false;
      if (again) { again = false; await refresh(); }
    };

    const news = byId("news");
    const tell = (group) => {
      const line = document.createElement("p");
      const link = document.createElement("a");
      link.href = `/groups/${encodeURIComponent(group.fingerprint)}`;
      link.textContent = group.tool;
      line.append(group.new ? "New failure: " : "Failed again: ", link, ` ${group.kind}`);
      news.append(line);
      while (news.childElementCount > 3) news.firstElementChild.remove();
      setTimeout(() => line.remove(), 12000);
    };
    const mark = (groups) => {
      const seen = new Set(groups.map((group) => group.fingerprint));
      for (const row of document.querySelectorAll("tr[data-group]")) {
        if (!seen.has(row.dataset.group)) continue;
        row.classList.add("fresh");
        setTimeout(() => row.classList.remove("fresh"), 4000);
      }
    };
    const show = (words, on) => {
      if (live.textContent !== words) live.textContent = words;
      live.classList.toggle("on", on);
    };

    // One stream while the page is seen: a browser has few connections for one place.
    let stream = null;
    const listen = () => {
      if (stream || document.hidden) return;
      stream = new EventSource("/live");
      stream.addEventListener("hello", () => { show("live", true); refresh(); });
      stream.addEventListener("away", () => show("store away", false));
      stream.addEventListener("changed", async (event) => {
        show("live", true);
        const { groups } = JSON.parse(event.data);
        await refresh();
        mark(groups);
        for (const group of groups.slice(0, 3)) tell(group);
      });
      stream.addEventListener("error", () => {
        show("not live", false);
        if (stream && stream.readyState === EventSource.CLOSED) {
          stream = null;
          setTimeout(listen, 5000);
        }
      });
    };
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) { listen(); return; }
      stream?.close();
      stream = null;
      show("not live", false);
    });
    addEventListener("pagehide", () => { stream?.close(); stream = null; });
    addEventListener("pageshow", listen);
    listen();
    // "5 min ago" grows old by itself.
    setInterval(() => { if (!document.hidden) refresh(); }, 60000);

    // Actions say that they come from here.
    document.addEventListener("submit", async (event) => {
      const form = event.target;
      if (!form.dataset.csrf) return;
      event.preventDefault();
      const response = await fetch(form.getAttribute("action"), {
        method: "POST",
        headers: { "x-breakfall-csrf": form.dataset.csrf },
        body: new URLSearchParams(new FormData(form)),
      }).catch(() => null);
      if (!response || !response.ok) {
        const line = document.createElement("p");
        line.textContent = "That did not work. Reload the page and try again.";
        news.append(line);
        return;
      }
      await refresh();
      document.querySelector(".act button")?.focus();
    });

    // Keys.
    const dialog = byId("keys"), switched = byId("keys-on");
    switched.checked = kept("breakfall-keys") !== "off";
    switched.addEventListener("change", () => keep("breakfall-keys", switched.checked ? "on" : "off"));
    byId("keys-button").addEventListener("click", () => dialog.showModal());
    const step = (by) => {
      const rows = [...document.querySelectorAll("a.open")];
      if (!rows.length) return;
      const at = rows.indexOf(document.activeElement);
      rows[Math.min(Math.max(at + by, 0), rows.length - 1)].focus();
    };
    let going = 0;
    document.addEventListener("keydown", (event) => {
      const types = event.target.matches?.("input, select, textarea");
      if (types || event.ctrlKey || event.metaKey || event.altKey || dialog.open || !switched.checked) return;
      const goes = Date.now() - going < 1500;
      going = 0;
      const link = goes && document.querySelector(`header nav a[data-key="${CSS.escape(event.key)}"]`);
      if (link) link.click();
      else if (event.key === "g") going = Date.now();
      else if (event.key === "j") step(1);
      else if (event.key === "k") step(-1);
      else if (event.key === "d") turn();
      else if (event.key === "?") dialog.showModal();
      else if (event.key === "/" && byId("q")) { event.preventDefault(); byId("q").focus(); }
    });
  });
})();
