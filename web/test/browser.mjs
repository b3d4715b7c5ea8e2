// browser.mjs: headless Chromium through its DevTools protocol over a pipe (file descriptors 3 and 4;
// messages end in a zero byte), so that no package is needed to drive it.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const WAIT_MS = 30000;

/** Its path, or undefined. */
export const findChromium = () =>
  [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
    (p) => p && existsSync(p),
  );

export class Browser {
  static async start(program) {
    const b = new Browser();
    b.profile = mkdtempSync(join(tmpdir(), "heddle-chromium-"));
    const flags = [
      "--headless",
      "--remote-debugging-pipe",
      `--user-data-dir=${b.profile}`,
      "--disable-gpu",
      "--no-first-run",
      "--hide-scrollbars",
      "--disable-dev-shm-usage",
      "--disable-background-networking",
      "--host-resolver-rules=MAP * ~NOTFOUND",
      ...(process.getuid() === 0 ? ["--no-sandbox"] : []),
      "about:blank",
    ];
    b.process = spawn(program, flags, {
      stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"],
      env: { ...process.env, HOME: b.profile },
    });
    b.log = "";
    b.process.stderr.on("data", (text) => (b.log += text));
    b.waiting = new Map();
    b.sessions = new Map();
    b.next = 1;
    let rest = "";
    b.process.stdio[4].on("data", (text) => {
      const parts = (rest + text).split("\0");
      rest = parts.pop();
      parts.forEach((p) => b.receive(JSON.parse(p)));
    });
    b.process.on("exit", (code) =>
      b.waiting.forEach(({ fail }) => fail(new Error(`chromium ended (${code}):\n${b.log}`))),
    );
    return b;
  }

  receive(message) {
    if (message.id) {
      const { done, fail } = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      return message.error ? fail(new Error(message.error.message)) : done(message.result);
    }
    this.sessions.get(message.sessionId)?.event(message.method, message.params);
  }

  send(method, params = {}, sessionId) {
    const id = this.next++;
    return new Promise((done, fail) => {
      const timer = setTimeout(() => fail(new Error(`${method}: no answer in ${WAIT_MS} ms`)), WAIT_MS);
      this.waiting.set(id, {
        done: (r) => (clearTimeout(timer), done(r)),
        fail: (e) => (clearTimeout(timer), fail(e)),
      });
      this.process.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    });
  }

  async page({ width, height, dark = false }) {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this, sessionId);
    this.sessions.set(sessionId, page);
    for (const domain of ["Page", "Runtime", "Network", "Log"]) await page.send(`${domain}.enable`);
    await page.size(width, height);
    await page.send("Emulation.setEmulatedMedia", {
      features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }],
    });
    return page;
  }

  async stop() {
    const ended = new Promise((done) => this.process.on("exit", done));
    await this.send("Browser.close").catch(() => this.process.kill());
    await ended;
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

class Page {
  constructor(browser, sessionId) {
    Object.assign(this, { browser, sessionId, errors: [], requests: [], loaded: null });
  }

  send(method, params) {
    return this.browser.send(method, params, this.sessionId);
  }

  event(method, p) {
    if (method === "Runtime.exceptionThrown")
      this.errors.push(p.exceptionDetails.exception?.description ?? p.exceptionDetails.text);
    if (method === "Runtime.consoleAPICalled" && ["error", "warning", "assert"].includes(p.type))
      this.errors.push(`console.${p.type}: ${p.args.map((a) => a.value ?? a.description).join(" ")}`);
    if (method === "Log.entryAdded" && ["error", "warning"].includes(p.entry.level))
      this.errors.push(p.entry.text);
    if (method === "Network.requestWillBeSent") this.requests.push(p.request.url);
    if (method === "Page.loadEventFired") this.loaded?.();
  }

  size(width, height) {
    return this.send("Emulation.setDeviceMetricsOverride", {
      width,
      height,
      deviceScaleFactor: 1,
      mobile: false,
    });
  }

  async open(url) {
    const loaded = new Promise((done) => (this.loaded = done));
    await this.send("Page.navigate", { url });
    await loaded;
  }

  /** The value of an expression or of a function's call in the page; promises are waited for. */
  async get(code, ...values) {
    const expression = typeof code === "function" ? `(${code})(...${JSON.stringify(values)})` : code;
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", {
      expression,
      returnByValue: true,
      awaitPromise: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Until it is true. */
  async until(code, ...values) {
    const end = Date.now() + WAIT_MS;
    while (!(await this.get(code, ...values))) {
      if (Date.now() > end) throw new Error(`never became true: ${code}`);
      await new Promise((done) => setTimeout(done, 20));
    }
  }

  mouse(type, x, y, more = {}) {
    return this.send("Input.dispatchMouseEvent", { type, x, y, pointerType: "mouse", ...more });
  }

  async click(x, y) {
    await this.mouse("mouseMoved", x, y);
    await this.mouse("mousePressed", x, y, { button: "left", clickCount: 1 });
    await this.mouse("mouseReleased", x, y, { button: "left", clickCount: 1 });
  }

  /** clip: { x, y, width, height }, or all of the window. */
  async screenshot(file, clip) {
    const { data } = await this.send("Page.captureScreenshot", {
      format: "png",
      ...(clip ? { clip: { ...clip, scale: 1 } } : {}),
    });
    writeFileSync(file, Buffer.from(data, "base64"));
  }
}
