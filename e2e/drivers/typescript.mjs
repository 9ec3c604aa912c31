// Makes calls as a program would that uses the TypeScript SDK: `mode` is `sdk` (the first
// generation) or `client` (the second). Talks as `python.py` does.
import { createInterface } from "node:readline";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const plan = JSON.parse(process.argv[2]);
const require = createRequire(plan.modules + "/");
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const say = (line) => process.stdout.write(JSON.stringify(line) + "\n");
const raised = (error) => ({ raised: `${error.constructor.name}: ${error.message}` });

async function connect() {
  const [whole, stdio, http] = await Promise.all((plan.mode === "client"
    ? ["client", "client/stdio", "client"]
    : ["sdk/client/index.js", "sdk/client/stdio.js", "sdk/client/streamableHttp.js"]
  ).map((name) => load(`@modelcontextprotocol/${name}`)));
  const client = new whole.Client({ name: "e2e", version: "1" });
  await client.connect(transport(stdio.StdioClientTransport, http.StreamableHTTPClientTransport));
  return client;
}

function transport(Stdio, Http) {
  if (plan.url) return new Http(new URL(plan.url));
  const [command, ...args] = plan.command;
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...plan.env };
  return new Stdio({ command, args, env });
}

try {
  const client = await connect();
  const { tools } = await client.listTools();
  say({ tools: tools.map((tool) => tool.name) });
  const options = { timeout: plan.patience * 1000 };
  for await (const line of createInterface({ input: process.stdin })) {
    const { tool, arguments: given } = JSON.parse(line);
    const params = { name: tool, arguments: given };
    try {
      const result =
        plan.mode === "client"
          ? await client.callTool(params, options)
          : await client.callTool(params, undefined, options);
      const text = result.content.map((block) => block.text ?? `[${block.type}]`).join("\n");
      say({ text, error: Boolean(result.isError) });
    } catch (error) {
      say(raised(error));
    }
  }
  await client.close();
} catch (error) {
  say(raised(error));
}
process.exit(0);
