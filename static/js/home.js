/**
 * Counts down how long leases last. The server's clock is the one that counts: the page says what it showed when
 * it was made. Without JavaScript the page shows what was left then, and when it ends.
 */

const SOON = 5 * 60;

/** @param {number} seconds as a clock shows them: 27:41, 1:05:09 */
function clock(seconds) {
  const [minutes, hours] = [Math.floor(seconds / 60) % 60, Math.floor(seconds / 3600)];
  const rest = String(seconds % 60).padStart(2, "0");
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

/** @type {[HTMLElement, number][]} */
const leases = [...document.querySelectorAll("[data-until]")]
  .filter((shown) => shown instanceof HTMLElement)
  .map((shown) => [shown, Date.parse(shown.dataset.until ?? "") - Date.parse(shown.dataset.now ?? "") + Date.now()]);

function show() {
  for (const [shown, end] of leases) {
    const left = Math.max(0, Math.floor((end - Date.now()) / 1000));
    const words = shown.querySelector("span");
    if (words) words.textContent = left ? `Held ${clock(left)}` : "Time ended";
    shown.classList.toggle("is-warn", left > 0 && left < SOON);
    shown.classList.toggle("is-bad", left === 0);
  }
}

show();
setInterval(show, 1000);
