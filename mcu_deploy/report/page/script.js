"use strict";
(function () {
  const page = document.querySelector(".mcu-report");
  page.classList.add("live");

  /* ---- Layers open and close ---- */
  function toggle(button, open) {
    button.setAttribute("aria-expanded", String(open));
    document.getElementById(button.getAttribute("aria-controls")).classList.toggle("open", open);
  }
  const isOpen = (button) => button.getAttribute("aria-expanded") === "true";
  const buttons = [...page.querySelectorAll(".layers button[aria-controls]")];
  for (const button of buttons) {
    button.addEventListener("click", () => toggle(button, !isOpen(button)));
  }
  for (const all of page.querySelectorAll("button.all")) {
    all.addEventListener("click", () => {
      const own = buttons.filter((button) => button.closest("section") === all.closest("section"));
      const open = !own.every(isOpen);
      own.forEach((button) => toggle(button, open));
      all.textContent = open ? "close all" : "open all";
    });
  }
  function follow() {
    const row = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    const button = row && row.querySelector("button[aria-controls]");
    if (button) {
      toggle(button, true);
      button.focus({ preventScroll: true });
      row.scrollIntoView({ block: "start" });
    }
  }
  addEventListener("hashchange", follow);
  follow();

  /* ---- Buffers say what they are: under the pointer, and by the arrow keys ---- */
  const steps = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };
  for (const arena of page.querySelectorAll(".arena")) {
    const readout = arena.querySelector(".readout");
    if (!readout) continue;
    const boxes = [...arena.querySelectorAll(".map .box")];
    boxes.forEach((box, at) => {
      const say = () => { readout.textContent = box.getAttribute("aria-label"); };
      box.addEventListener("pointerenter", say);
      box.addEventListener("focus", say);
      box.addEventListener("click", () => box.focus());
      box.addEventListener("keydown", (event) => {
        const ends = { Home: 0, End: boxes.length - 1 };
        const next = event.key in ends ? ends[event.key] : at + (steps[event.key] || 0);
        if (next === at || !boxes[next]) return;
        event.preventDefault();
        box.setAttribute("tabindex", "-1");
        boxes[next].setAttribute("tabindex", "0");
        boxes[next].focus();
      });
    });
  }

  /* ---- A name that has no room in its box is left out, not cut ---- */
  function fit() {
    for (const text of page.querySelectorAll("text.fit")) {
      const frame = text.ownerSVGElement.querySelector("rect");
      text.removeAttribute("visibility");
      const bytes = text.querySelector(".bytes");
      if (bytes) bytes.removeAttribute("display");
      const room = frame.getBoundingClientRect().width - 10;
      if (bytes && text.getComputedTextLength() > room) bytes.setAttribute("display", "none");
      if (text.getComputedTextLength() > room) text.setAttribute("visibility", "hidden");
    }
  }
  addEventListener("resize", fit);
  for (const details of page.querySelectorAll("details")) details.addEventListener("toggle", fit);
  fit();
})();
