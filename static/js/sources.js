/**
 * The page of sources beside people: a chosen source is shown at once, ticks are counted, and while something is being
 * computed the page looks now and then whether it is done. Without JavaScript buttons do all of it.
 */

const PAUSE = 3_000;
const LONGEST_PAUSE = 60_000;

const choose = document.querySelector("form[data-choose]");
if (choose instanceof HTMLFormElement) {
  choose.querySelector("[data-without-script]")?.setAttribute("hidden", "");
  choose.addEventListener("change", () => choose.requestSubmit());
}

const send = document.querySelector("form[data-send]");
if (send instanceof HTMLFormElement) {
  const said = send.querySelector("[data-chosen]");
  const all = send.querySelector("[data-all]");
  const ticks = [...send.querySelectorAll("input[type=checkbox]")].filter((one) => one instanceof HTMLInputElement);
  const count = () => {
    const many = ticks.filter((one) => one.checked).length;
    if (said) said.textContent = many ? `${many} chosen` : "None chosen";
  };
  send.addEventListener("change", count);
  if (all instanceof HTMLButtonElement) {
    all.hidden = false;
    all.addEventListener("click", () => {
      for (const one of ticks) one.checked = true;
      count();
    });
  }
  count();
}

/** @param {number} pause */
async function look(pause) {
  const answer = document.hidden ? null : await fetch(location.href).catch(() => null);
  const text = answer?.ok ? await answer.text() : "";
  if (text) {
    const page = new DOMParser().parseFromString(text, "text/html");
    if (!page.querySelector("[data-computing]")) {
      location.reload();
      return;
    }
  }
  setTimeout(look, pause, Math.min(text || document.hidden ? pause : 2 * pause, LONGEST_PAUSE));
}

if (document.querySelector("[data-computing]")) setTimeout(look, PAUSE, PAUSE);
