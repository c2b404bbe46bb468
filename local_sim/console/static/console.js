"use strict";
// Live pages and details that load when opened. Everything works without: links and forms are plain.
(() => {
  const load = async (details) => {
    if (!details.open || details.dataset.loaded) return;
    details.dataset.loaded = "1";
    const answer = await fetch(details.dataset.src, { headers: { "X-Fragment": "1" } });
    if (!answer.ok) return;
    details.querySelector(".whole")?.remove();
    details.insertAdjacentHTML("beforeend", await answer.text());
  };
  document.addEventListener("toggle", (event) => {
    if (event.target.matches?.("details[data-src]")) load(event.target);
  }, true);

  const fill = async (place) => {
    const answer = await fetch(place.dataset.load, { headers: { "X-Fragment": "1" } });
    if (answer.ok) place.innerHTML = await answer.text();
  };
  document.querySelectorAll("[data-load]").forEach(fill);

  const openTarget = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (target instanceof HTMLDetailsElement) { target.open = true; target.scrollIntoView({ block: "nearest" }); }
  };
  addEventListener("hashchange", openTarget);
  openTarget();

  const busy = () => {
    const main = document.querySelector("main");
    const focus = document.activeElement;
    return (main.contains(focus) && focus.matches("input, textarea, select")) || main.querySelector("details[open] textarea");
  };
  const refresh = async () => {
    const main = document.querySelector("main[data-live]");
    if (!main || document.hidden || busy()) return;
    const answer = await fetch(location.href);
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");
    const kept = new Map([...main.querySelectorAll("details[open][id]")].map((one) => [one.id, one]));
    for (const [id, old] of kept) {
      const place = fresh.querySelector(`#${CSS.escape(id)}`);
      if (place) { place.open = true; delete place.dataset.loaded; if (old.dataset.loaded) load(place); }
    }
    fresh.querySelectorAll("[data-load]").forEach((place) => {
      const old = main.querySelector(`[data-load="${place.dataset.load}"]`);
      if (old) place.replaceChildren(...old.childNodes);
      fill(place);
    });
    const scrolled = [...main.querySelectorAll(".picture")].map((one) => [one.scrollLeft, one.scrollTop]);
    const focused = document.activeElement?.id;
    main.replaceWith(document.adoptNode(fresh));
    fresh.querySelectorAll(".picture").forEach((one, at) => { if (scrolled[at]) [one.scrollLeft, one.scrollTop] = scrolled[at]; });
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  };
  if (document.querySelector("main[data-live]")) {
    let timer = 0;
    const seen = document.querySelector("main").dataset.live;
    new EventSource(`/console/changes?seen=${seen}`).onmessage = () => { clearTimeout(timer); timer = setTimeout(refresh, 150); };
    document.addEventListener("visibilitychange", refresh);
  }
})();
