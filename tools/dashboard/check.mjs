// Looks at the dashboard in a real browser. "go test ./internal/later/page -run
// WritePages -pages DIR" writes it in each of its states; this says what is wrong
// with them:
//
//   node check.mjs DIR               check all of them
//   node check.mjs DIR --shots TO    and keep pictures
//   node check.mjs DIR --picture TO  only make the picture of the README
import { readFileSync, readdirSync, writeFileSync, mkdirSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Browser } from "./browser.mjs";

const axe = () => readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const [dir, option, to] = process.argv.slice(2);
const page = (name) => pathToFileURL(resolve(dir, name + ".html")).href;
const sizes = { wide: [1200, 900], narrow: [360, 740] };

let problems = 0;
const complain = (where, what) => {
  problems++;
  console.log(`FAIL ${where}: ${what}`);
};

// accessible returns what axe has against a page that is open.
async function accessible(tab) {
  await tab.run(axe());
  const { violations, passes } = await tab.run(`axe.run(document, { resultTypes: ["violations", "passes"] }).then((r) => ({
    passes: r.passes.length,
    violations: r.violations.map((v) => v.id + ": " + v.help + " (" + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 120)).join(", ") + ")"),
  }))`);
  return passes < 15 ? [`axe found only ${passes} rules that hold: is this the page?`] : violations;
}

// wrong returns what else is wrong with it.
async function wrong(tab, url) {
  const list = [];
  const over = await tab.run(`(() => {
    const width = document.documentElement.clientWidth;
    const wide = [...document.querySelectorAll("body *")].filter((e) => !e.closest(".skip, .hear") && e.getBoundingClientRect().right > width + 1);
    return wide.slice(0, 3).map((e) => e.outerHTML.slice(0, 120));
  })()`);
  list.push(...over.map((html) => `wider than the window: ${html}`));
  if (!(await tab.run(`document.title.endsWith("cc-later")`))) list.push("a text ran as a script");
  list.push(...tab.requests.filter((r) => r !== url).map((r) => `it asks for ${r.slice(0, 200)}`));
  list.push(...tab.errors.map((e) => `the browser says ${e.slice(0, 300)}`));
  return list;
}

// open returns a new tab with a page.
async function open(browser, url, { size = sizes.wide, scheme = "light", before = "" } = {}) {
  const tab = await browser.tab();
  await tab.size(...size);
  await tab.scheme(scheme);
  if (before) await tab.send("Page.addScriptToEvaluateOnNewDocument", { source: before });
  await tab.open(url);
  return tab;
}

// looks checks every state in every scheme and size, with everything closed and with
// everything open.
async function looks(browser) {
  for (const file of readdirSync(dir).filter((f) => f.endsWith(".html") && !f.endsWith(".tmp.html")).sort()) {
    const name = basename(file, ".html");
    for (const scheme of ["light", "dark"]) {
      for (const [sized, size] of Object.entries(sizes)) {
        const where = `${name}, ${scheme}, ${sized}`;
        const tab = await open(browser, page(name), { size, scheme });
        await tab.run(`document.getElementById("hold").click()`); // or it is loaded anew below our hands
        if (option === "--shots") writeFileSync(join(to, `${name}-${scheme}-${sized}.png`), await shot(tab));
        for (const opened of ["", ", opened"]) {
          if (opened) await tab.run(`for (const d of document.querySelectorAll("details")) d.open = true`);
          const list = await wrong(tab, page(name));
          if (sized === "wide") list.push(...(await accessible(tab))); // it takes its time, and the other size has the same elements
          for (const what of list) complain(where + opened, what);
        }
        await tab.close();
        console.log(`     ${where}`);
      }
    }
  }
}

async function shot(tab, most = 6000) {
  const [width, height] = await tab.run(`[document.documentElement.clientWidth, document.documentElement.scrollHeight]`);
  return tab.picture({ x: 0, y: 0, width, height: Math.min(height, most) });
}

// fails checks that what is looked for is found: in a page that has one thing of each
// kind wrong.
async function fails(browser) {
  const good = readFileSync(join(dir, "full.html"), "utf8");
  const kinds = {
    "it asks for": ["<h1>", `<img alt="" src="http://127.0.0.1:9/x.png"><h1>`, /<meta http-equiv[^>]*>/],
    "the browser says": ["<h1>", `<h1 style="color:red">`],
    "image-alt": ["<h1>", `<img src="data:,"><h1>`],
    "color-contrast": ["--soft: #565e6c", "--soft: #c0c4cc", /<meta http-equiv[^>]*>/],
    "wider than the window": ["overflow-wrap: anywhere", "white-space: nowrap", /<meta http-equiv[^>]*>/],
    "a text ran": ["<h1>", `<script>document.title = "ran"</script><h1>`, /<meta http-equiv[^>]*>/],
  };
  for (const [kind, [from, into, without]] of Object.entries(kinds)) {
    let bad = good.replace(from, into);
    if (without) bad = bad.replace(without, "");
    if (bad === good) throw new Error(`the page has no ${from}`);
    const file = join(dir, "broken.tmp.html");
    writeFileSync(file, bad);
    const url = pathToFileURL(resolve(file)).href;
    const tab = await open(browser, url, { size: sizes.narrow });
    if (![...(await wrong(tab, url)), ...(await accessible(tab))].some((w) => w.startsWith(kind))) complain("the check itself", `it does not see "${kind}"`);
    await tab.close();
  }
  console.log("     what is wrong is found");
}

// The clock of the page, which goes on when it is told to.
const clock = `{
  let skew = 0, look;
  const real = Date.now;
  Date.now = () => real() + skew;
  window.setInterval = (f) => { look = f; return 1; };
  window.pass = (ms) => { skew += ms; look(); };
}`;

const place = `({
  y: Math.round(scrollY), focus: document.activeElement.id, hold: document.getElementById("hold").textContent,
  open: [...document.querySelectorAll("details[open]")].map((d) => d.id),
})`;

// follows checks that an open page follows the file, and keeps its place.
async function follows(browser) {
  const file = join(dir, "follow.tmp.html");
  const url = pathToFileURL(resolve(file)).href;
  const write = (written) => writeFileSync(file, readFileSync(join(dir, "full.html"), "utf8").replace(/20:47(?=<\/time><span id="age">)/, written));
  const written = `document.querySelector(".updates time").textContent`;
  const same = (what, got, want) => JSON.stringify(got) === JSON.stringify(want) || complain(what, `${JSON.stringify(got)}, want ${JSON.stringify(want)}`);

  // stays lets time go by in which the page must not be loaded anew.
  const stays = async (tab, what) => {
    write("too early");
    await tab.run(`pass(60_000)`);
    await tab.run(`new Promise((done) => setTimeout(done, 100))`).catch(() => {}); // it would be on its way by now
    if ((await tab.run(written)) === "too early") complain(what, "the page was loaded anew");
  };
  // comes lets time go by in which it has to be.
  const comes = async (tab, what, text) => {
    write(text);
    const loaded = tab.event("Page.loadEventFired");
    await tab.run(`pass(15_000)`);
    await loaded;
    same(what, await tab.run(written), text);
  };

  write("20:47");
  const tab = await open(browser, url, { before: clock });
  await tab.run(`for (const id of ["burn-table", "events"]) document.getElementById(id).open = true;
    document.querySelectorAll(".copy")[1].focus({ preventScroll: true }); scrollTo(0, 700)`);
  const was = await tab.run(place);
  if (was.y !== 700 || was.open.length !== 2 || !was.focus.startsWith("copy-")) throw new Error(`the page cannot be used: ${JSON.stringify(was)}`);
  await comes(tab, "loaded anew", "20:48");
  same("loaded anew", await tab.run(place), was);

  // By keyboard: but for the link the button is the first that Tab reaches.
  await tab.run(`document.querySelector(".skip").focus()`);
  await tab.press("Tab");
  same("the first button", await tab.run(`document.activeElement.id`), "hold");
  await tab.press("Enter", "Enter", "\r");
  same("held", await tab.run(`document.getElementById("said").textContent`), "This page stays as it is.");
  await stays(tab, "held");
  write("20:49");
  const loaded = tab.event("Page.loadEventFired");
  await tab.send("Page.reload");
  await loaded;
  same("held when loaded by hand", [await tab.run(written), (await tab.run(place)).hold], ["20:49", "Resume updates"]);
  await tab.run(`document.getElementById("hold").click()`);

  // Not under the hands of somebody who selects a text.
  await tab.run(`getSelection().selectAllChildren(document.querySelector(".wants"))`);
  await stays(tab, "a text is selected");
  await tab.run(`getSelection().removeAllRanges()`);
  await comes(tab, "and is not any more", "20:50");
  await tab.close();

  // Nor where nobody looks.
  const hidden = await open(browser, url, { before: clock + `Object.defineProperty(Document.prototype, "hidden", { get: () => true })` });
  await stays(hidden, "hidden");
  await hidden.close();
  console.log("     it follows, and keeps its place");
}

// keys checks that all there is to press is reached by the keyboard, shows that it
// has the focus, and does what it says.
async function keys(browser) {
  const tab = await open(browser, page("full"));
  await tab.send("Page.bringToFront");
  const all = await tab.run(`[...document.querySelectorAll("button, summary")].map((e) => e.id || e.parentElement.id)`);
  const reached = new Set();
  for (let i = 0; i < all.length + 5; i++) {
    await tab.press("Tab");
    const [id, shown] = await tab.run(`(() => {
      const e = document.activeElement;
      return [e.id || e.parentElement?.id, e === document.body || e.matches(".skip") || getComputedStyle(e).outlineStyle !== "none"];
    })()`);
    reached.add(id);
    if (!shown) complain("keyboard", `nothing shows that ${id} has the focus`);
  }
  for (const id of all) if (!reached.has(id)) complain("keyboard", `${id} is not reached`);

  await browser.send("Browser.grantPermissions", { permissions: ["clipboardReadWrite", "clipboardSanitizedWrite"] });
  for (const clipboard of [true, false]) {
    if (!clipboard) await tab.run(`Object.defineProperty(navigator, "clipboard", { value: undefined })`);
    await tab.run(`document.getElementById("said").textContent = ""; document.querySelector(".copy").focus()`);
    await tab.press("Enter", "Enter", "\r");
    const said = await tab.run(`new Promise((done) => {
      const said = document.getElementById("said");
      if (said.textContent) return done(said.textContent);
      new MutationObserver(() => done(said.textContent)).observe(said, { childList: true });
    })`);
    if (said !== "Copied.") complain("copy", `with${clipboard ? "" : "out"} the clipboard it says ${said}`);
    // What was copied is what can be pasted.
    const pasted = await tab.run(`(() => {
      const area = document.body.appendChild(document.createElement("textarea"));
      area.focus();
      document.execCommand("paste");
      const text = area.value;
      area.remove();
      return text || navigator.clipboard?.readText();
    })()`);
    const command = await tab.run(`document.querySelector(".command code").textContent`);
    if (pasted !== undefined && pasted !== command) complain("copy", `${JSON.stringify(pasted)} was copied, not ${command}`);
  }
  await tab.close();
  console.log("     all of it works by the keyboard");
}

// picture makes that of the README: the upper part, as it is.
async function picture(browser) {
  const tab = await open(browser, page("full"), { size: [1040, 900] });
  const bottom = await tab.run(`document.querySelector(".agents").getBoundingClientRect().bottom + scrollY`);
  writeFileSync(to, await tab.picture({ x: 0, y: 0, width: 1040, height: Math.round(bottom + 24) }));
  await tab.close();
}

const browser = await Browser.start();
try {
  if (option === "--picture") {
    await picture(browser);
  } else {
    if (to) mkdirSync(to, { recursive: true });
    await follows(browser);
    await keys(browser);
    await looks(browser);
    await fails(browser);
    console.log(problems ? `Problems: ${problems}` : "The dashboard is in order.");
  }
} finally {
  await browser.close();
}
process.exitCode = problems ? 1 : 0;
