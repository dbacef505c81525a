"use strict";
(() => {
  const every = Number(document.documentElement.dataset.every) * 1000;
  const written = Date.parse(document.querySelector(".updates time").dateTime);
  const loaded = Date.now();
  const hold = document.getElementById("hold");
  const said = document.getElementById("said");
  let touched = 0; // when somebody last did something here
  let held = false;

  // What is kept while the page is loaded anew stands with its entry of the history.
  const keep = () => ({
    held,
    x: scrollX,
    y: scrollY,
    focus: document.activeElement ? document.activeElement.id : "",
    open: [...document.querySelectorAll("details[open]")].map((d) => d.id),
  });

  const restore = (was) => {
    if (!was || !Array.isArray(was.open)) return;
    held = was.held === true;
    for (const id of was.open) {
      const details = document.getElementById(id);
      if (details) details.open = true;
    }
    const focused = was.focus && document.getElementById(was.focus);
    if (focused) focused.focus({ preventScroll: true });
    scrollTo(was.x, was.y);
  };

  const reload = () => {
    history.replaceState(keep(), "");
    location.reload();
  };

  const selecting = () => {
    const s = getSelection();
    return s !== null && !s.isCollapsed;
  };

  const look = () => {
    const now = Date.now();
    const minutes = Math.floor((now - written) / 60000);
    document.getElementById("age").textContent =
      minutes < 2 ? "" : minutes < 120 ? `, ${minutes} minutes ago` : `, ${Math.floor(minutes / 60)} hours ago`;
    if (held || document.hidden || selecting() || now - touched < 3000 || now - loaded < every) return;
    reload();
  };

  const label = () => {
    hold.textContent = held ? "Resume updates" : "Pause updates";
  };

  const copy = async (button) => {
    const code = document.getElementById(button.dataset.copy);
    let done = true;
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      const range = document.createRange();
      range.selectNodeContents(code);
      const selection = getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
      done = document.execCommand("copy");
      if (done) selection.removeAllRanges();
    }
    button.textContent = done ? "Copied" : "Selected";
    said.textContent = done ? "Copied." : "Selected; copy it with your keyboard.";
    setTimeout(() => {
      button.textContent = "Copy";
      said.textContent = "";
    }, 2500);
  };

  // Before anything is restored: what is hidden takes no focus, and no place.
  for (const button of document.querySelectorAll("button")) button.hidden = false;
  history.scrollRestoration = "manual";
  restore(history.state);
  label();
  hold.addEventListener("click", () => {
    held = !held;
    label();
    said.textContent = held ? "This page stays as it is." : "This page is kept up to date.";
    history.replaceState(keep(), "");
  });
  for (const button of document.querySelectorAll(".copy")) {
    button.addEventListener("click", () => copy(button));
  }
  for (const type of ["keydown", "pointerdown", "wheel", "touchmove", "scroll"]) {
    addEventListener(type, () => { touched = Date.now(); }, { passive: true });
  }
  document.addEventListener("visibilitychange", look);
  setInterval(look, 1000);
  look();
})();
