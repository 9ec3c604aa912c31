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
  const [Client, StdioClientTransport] =
    plan.mode === "client"
      ? [(await load("@modelcontextprotocol/client")).Client,
         (await load("@modelcontextprotocol/client/stdio")).StdioClientTransport]
      : [(await load("@modelcontextprotocol/sdk/client/index.js")).Client,
         (await load("@modelcontextprotocol/sdk/client/stdio.js")).StdioClientTransport];
  const [command, ...args] = plan.command;
  const client = new Client({ name: "e2e", version: "1" });
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...plan.env };
  await client.connect(new StdioClientTransport({ command, args, env }));
  return client;
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
