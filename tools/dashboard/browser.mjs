// A browser of its own for each run, spoken with over a pipe: no port, no profile of
// anybody, no way out.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const programs = [process.env.CHROMIUM, "chromium", "chromium-browser", "google-chrome", "chrome"].filter(Boolean);

// So long is waited for anything, in ms.
const patience = 60_000;

export class Browser {
  static async start() {
    const program = programs.find((p) => spawnSync(p, ["--version"]).status === 0);
    if (!program) throw new Error("no browser: install chromium, or set CHROMIUM");
    const b = new Browser();
    b.profile = mkdtempSync(join(tmpdir(), "dashboard-check-"));
    const flags = [
      "--headless", "--remote-debugging-pipe", `--user-data-dir=${b.profile}`, "--no-first-run", "--hide-scrollbars", "--disable-gpu",
      // Whatever asks for anything meets a port that nobody listens at.
      "--proxy-server=127.0.0.1:9", "--proxy-bypass-list=<-loopback>", "--disable-background-networking", "--disable-component-update",
      "--disable-sync", "--disable-dev-shm-usage", "--lang=en-US",
    ];
    if (process.getuid?.() === 0) flags.push("--no-sandbox"); // it refuses to run as root with it
    b.process = spawn(program, [...flags, "about:blank"], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    b.ended = new Promise((done) => b.process.once("exit", done));
    b.ended.then(() => b.fail(new Error("the browser is gone")));
    let rest = "";
    b.process.stdio[4].setEncoding("utf8").on("data", (data) => {
      const messages = (rest + data).split("\0");
      rest = messages.pop();
      for (const m of messages) b.receive(JSON.parse(m));
    });
    b.process.stdio[3].on("error", () => {});
    return b;
  }

  #next = 0;
  #waiting = new Map();
  #tabs = new Map();

  fail(error) {
    for (const w of this.#waiting.values()) w.failed(error);
    for (const t of this.#tabs.values()) t.fail(error);
    this.#waiting.clear();
  }

  receive(m) {
    if (m.id) {
      const w = this.#waiting.get(m.id);
      this.#waiting.delete(m.id);
      if (m.error) w?.failed(new Error(`${w.method}: ${m.error.message}`));
      else w?.done(m.result);
    } else if (m.sessionId) this.#tabs.get(m.sessionId)?.receive(m.method, m.params);
  }

  send(method, params = {}, sessionId) {
    const id = ++this.#next;
    return new Promise((done, failed) => {
      const late = setTimeout(() => failed(new Error(`${method}: no answer in ${patience / 1000} s`)), patience);
      this.#waiting.set(id, { done: (r) => (clearTimeout(late), done(r)), failed: (e) => (clearTimeout(late), failed(e)), method });
      this.process.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    });
  }

  async tab() {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const t = new Tab(this, sessionId, targetId);
    this.#tabs.set(sessionId, t);
    for (const domain of ["Page", "Runtime", "Network", "Log"]) await t.send(`${domain}.enable`);
    return t;
  }

  async close() {
    await this.send("Browser.close").catch(() => {});
    await this.ended;
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

// Tab is a page that writes down what it asks for and what goes wrong in it.
export class Tab {
  requests = [];
  errors = [];
  #waits = [];

  constructor(browser, session, target) {
    Object.assign(this, { browser, session, target });
  }

  send(method, params) {
    return this.browser.send(method, params, this.session);
  }

  fail(error) {
    for (const w of this.#waits.splice(0)) w.failed(error);
  }

  receive(method, params) {
    if (method === "Network.requestWillBeSent") this.requests.push(params.request.url);
    if (method === "Network.webSocketCreated") this.requests.push(params.url);
    if (method === "Log.entryAdded" && params.entry.level === "error") this.errors.push(params.entry.text);
    if (method === "Runtime.exceptionThrown") this.errors.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === "Runtime.consoleAPICalled" && params.type === "error") this.errors.push(params.args.map((a) => a.value).join(" "));
    this.#waits = this.#waits.filter((w) => w.method !== method || (w.done(params), false));
  }

  // event waits for the next event of a kind.
  event(method) {
    return new Promise((done, failed) => {
      const late = setTimeout(() => failed(new Error(`no ${method} in ${patience / 1000} s`)), patience);
      this.#waits.push({ method, done: (p) => (clearTimeout(late), done(p)), failed: (e) => (clearTimeout(late), failed(e)) });
    });
  }

  async open(url) {
    const loaded = this.event("Page.loadEventFired");
    await this.send("Page.navigate", { url });
    await loaded;
  }

  // run returns what an expression is in the page.
  async run(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true, userGesture: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  async size(width, height, scale = 1) {
    await this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: scale, mobile: false });
  }

  async scheme(value, more = []) {
    await this.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value }, ...more] });
  }

  async press(key, code = key, text) {
    await this.send("Input.dispatchKeyEvent", { type: text ? "keyDown" : "rawKeyDown", key, code, text, windowsVirtualKeyCode: { Tab: 9, Enter: 13 }[key] });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", key, code, windowsVirtualKeyCode: { Tab: 9, Enter: 13 }[key] });
  }

  async picture(clip) {
    const { data } = await this.send("Page.captureScreenshot", { format: "png", captureBeyondViewport: true, ...(clip && { clip: { scale: 1, ...clip } }) });
    return Buffer.from(data, "base64");
  }

  async close() {
    await this.browser.send("Target.closeTarget", { targetId: this.target });
  }
}
