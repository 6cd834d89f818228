/** Ratings below each rated file, by mouse, touch or key. Which ones a submission needs is the server's rule. */

import { key, namesAlone, on } from "../events.js";
import { askReason, KEY, showReason } from "../task/unjudged.js";
import { ratedFiles } from "./rating-rules.js";

/** @import { Gap, Scheme, Work as Task } from "../task/task.js" */
/** @typedef {Task["data"]["files"][number]} File */

const PAUSE = 1_500;

/** @param {any} object @param {string} name */
const own = (object, name) => (object && Object.hasOwn(object, name) ? object[name] : undefined);

/** @param {Task} task @param {Scheme} scheme */
export function mount(task, scheme) {
  /** @type {{ name: string, display: string }[]} */
  const dimensions = scheme.block.dimensions;
  const files = ratedFiles(task.data.files, scheme.block);
  // The page shows hidden characters of a path by their names.
  const paths = files.map(({ index, path }) => document.getElementById(`f${index}`)?.ariaLabel ?? path);
  const names = paths.map((path) => path.slice(path.lastIndexOf("/") + 1));
  const template = /** @type {HTMLTemplateElement | null} */ (document.getElementById(`mount-${scheme.name}`))?.content;
  /** @type {Map<Element, File>} */
  const sections = new Map();
  let hasArrived = false;
  /** The last digits that chose a rating. @type {{ scale: Element | null, text: string, at: number }} */
  let typed = { scale: null, text: "", at: 0 };

  // Files and dimensions may be named as what every object has: "constructor", "length".
  /** @param {File} file @returns {Record<string, number>} */
  const ratingsOf = ({ path }) => ({ __proto__: null, ...own(task.answers(scheme.name), path) });
  /** @param {File} file */
  const open = (file) => (reasonOf(file) ? [] : dimensions.filter(({ name }) => ratingsOf(file)[name] == null));
  const takesReasons = !dimensions.some(({ name }) => name === KEY);
  /** Why a file cannot be judged. @param {File} file @returns {string} */
  const reasonOf = (file) => (takesReasons ? /** @type {any} */ (ratingsOf(file)[KEY] ?? "") : "");
  /** The whole path where its last part names several files. @param {string | undefined} name @param {number} at */
  const telling = (name = "", at) => (names.indexOf(name) === names.lastIndexOf(name) ? name : paths[at]);

  /** @param {Element} control in a scale @param {number | null} number null clears it */
  function rate(control, number) {
    const dimension = control.closest("fieldset")?.dataset.dimension ?? "";
    const file = sections.get(control.closest(".rate") ?? control);
    if (!file) return;
    const { [dimension]: _, ...rest } = ratingsOf(file);
    // A rating takes the place of the reason why there is none.
    const others = reasonOf(file) ? {} : rest;
    const { [file.path]: __, ...answers } = task.answers(scheme.name) ?? {};
    const ratings = number === null ? others : { ...others, [dimension]: number };
    task.change(scheme.name, Object.keys(ratings).length ? { ...answers, [file.path]: ratings } : answers);
    redraw();
  }

  /** @param {File} file */
  async function cannotJudge(file) {
    if (task.isReadOnly || !takesReasons) return;
    const at = files.indexOf(file);
    const reason = await askReason(telling(names[at], at) ?? file.path, reasonOf(file));
    if (reason === null) return;
    const { [file.path]: before, ...answers } = task.answers(scheme.name) ?? {};
    const { [KEY]: _, ...ratings } = before ?? {};
    const after = reason ? { [KEY]: reason } : ratings;
    task.change(scheme.name, Object.keys(after).length ? { ...answers, [file.path]: after } : answers);
    redraw();
    task.announce(reason ? "The file cannot be judged." : "The file can be judged.");
  }

  /** @param {File} file @param {Element} section */
  function show(file, section) {
    for (const scale of section.querySelectorAll("fieldset")) {
      const number = ratingsOf(file)[scale.dataset.dimension ?? ""];
      scale.disabled = task.isReadOnly;
      scale.classList.toggle("is-rated", number != null);
      for (const input of scale.querySelectorAll("input")) input.checked = input.value === String(number);
    }
    const left = open(file).length;
    const reason = reasonOf(file);
    section.classList.toggle("is-rated", !left && !reason);
    section.classList.toggle("is-unjudged", Boolean(reason));
    const why = section.querySelector(".rate__why");
    if (why instanceof HTMLElement) {
      why.hidden = !reason;
      why.textContent = `Cannot judge: ${reason}`;
    }
    const button = section.querySelector("[data-unjudged]");
    if (button instanceof HTMLElement) button.hidden = !takesReasons || Boolean(task.isReading);
    showReason(button, section.querySelector(".rate__path")?.textContent ?? file.path, reason, task.isReadOnly);
    const words = section.querySelector(".rate__words");
    if (words) words.textContent = `${left} of ${dimensions.length} left`;
  }

  /** Give a section its scales: those of all files of a page are too many. @param {Element} section */
  function fill(section) {
    near.unobserve(section);
    const [file, columns, scales] = [sections.get(section), section.querySelector(".rate__cols:empty"), template?.querySelector("template")];
    if (!file || !columns || !scales) return;
    columns.append(scales.content.cloneNode(true));
    for (const input of columns.querySelectorAll("input")) input.name = `${section.id}-${input.closest("fieldset")?.dataset.dimension}`;
    show(file, section);
  }

  const near = new IntersectionObserver((seen) => seen.forEach(({ isIntersecting, target }) => isIntersecting && fill(target)), {
    rootMargin: "1500px 0px",
  });

  /** The choice of a scale, or its first point. @param {Element | null | undefined} scale */
  const focus = (scale) => /** @type {HTMLElement | null | undefined} */ (scale?.querySelector(":checked") ?? scale?.querySelector("input"))?.focus();

  /** To what is not rated of a file, or else to its first scale. @param {File} file */
  function go(file) {
    const section = document.getElementById(`rate-${file.index}`);
    if (!section) {
      const address = new URL(task.data.urls.files, location.href);
      address.searchParams.set("file", String(file.index));
      address.hash = `rate-${file.index}`;
      return location.assign(address);
    }
    fill(section);
    focus(section.querySelector("fieldset:not(.is-rated)") ?? section);
    section.scrollIntoView({ block: "center" });
  }

  /** Where the address asks for a rating it gets the focus, once it can be given. */
  function start() {
    redraw();
    const index = files.findIndex(({ index }) => location.hash === `#rate-${index}`);
    if (hasArrived || task.isReadOnly || !files[index] || !sections.size) return;
    hasArrived = true;
    go(files[index]);
  }

  function redraw() {
    for (const [section, file] of sections) show(file, section);
    const all = files.length * dimensions.length;
    const counter = document.querySelector(`[data-count="${scheme.name}"]`);
    if (counter) counter.textContent = `${files.reduce((given, file) => given - open(file).length, all)} of ${all}`;
  }

  on("change", ".rating input", (event, input) => rate(input, Number(/** @type {HTMLInputElement} */ (input).value)));
  on("click", "[data-clear]", (event, button) => {
    const scale = button.closest(".rating");
    rate(button, null);
    focus(scale);
  });
  on("keydown", ".rating", (event, scale) => {
    const names = namesAlone(event);
    const digit = names.find((name) => /^[0-9]$/.test(name)) ?? "";
    const isClearing = names.includes("Backspace") || names.includes("Delete");
    const values = [...scale.querySelectorAll("input")].map(({ value }) => value);
    // 10 is typed as 1 and 0: the first of them stays where a longer value may be meant.
    const longer = typed.scale === scale && event.timeStamp - typed.at < PAUSE ? typed.text + digit : "";
    const point = digit && [longer, digit].find((text) => values.includes(text));
    if (task.isReadOnly || !(isClearing || point)) return;
    event.preventDefault();
    typed = { scale, text: point || "", at: event.timeStamp };
    rate(scale, isClearing ? null : Number(point));
    const mayGoOn = values.some((value) => value !== point && value.startsWith(point || ""));
    focus(isClearing || mayGoOn ? scale : (scale.nextElementSibling ?? scale));
    return true;
  });
  on("click", ".rate [data-unjudged]", (event, button) => {
    const file = sections.get(button.closest(".rate") ?? button);
    if (file) void cannotJudge(file);
  });
  key("x", () => {
    const file = sections.get(document.activeElement?.closest("article")?.querySelector(".rate") ?? document.body);
    if (!file) return false;
    void cannotJudge(file);
  });
  // The file in which the focus is, while that is in sight, else the first one below the bars at the top.
  key("r", () => {
    const box = document.activeElement?.closest("article")?.getBoundingClientRect();
    const isSeen = box && box.bottom > 0 && box.top < innerHeight;
    const from = isSeen ? box.bottom - 2 : parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0;
    for (const [section, file] of sections) if (section.getBoundingClientRect().bottom >= from) return go(file);
  });
  task.onModeChange(start);

  for (const [at, file] of files.entries()) {
    const section = /** @type {Element | undefined} */ (template?.querySelector("section")?.cloneNode(true));
    const article = document.getElementById(`f${file.index}`);
    const path = section?.querySelector("code");
    if (!section || !article || !path) continue;
    path.textContent = paths[at] ?? file.path;
    section.id = `rate-${file.index}`;
    section.ariaLabel = task.isReading ? `Ratings of ${path.textContent}` : `Rate ${path.textContent}`;
    if (task.isReading) section.querySelector("h3")?.replaceChildren("Ratings");
    sections.set(section, file);
    article.append(section);
    near.observe(section);
  }
  start();

  return {
    redraw,
    /** @type {import("../task/suggestions.js").Suggests} */
    suggests: {
      beside: ({ file }) => [...sections].find(([, { path }]) => path === file)?.[0].querySelector(".rate__suggested") ?? null,
      accept: ({ at: [path = ""], value }) => {
        const { [KEY]: _, ...ratings } = own(task.answers(scheme.name), path) ?? {};
        task.change(scheme.name, { ...task.answers(scheme.name), [path]: { ...(takesReasons ? ratings : own(task.answers(scheme.name), path)), ...value } });
        return undefined;
      },
      edit: ({ file }) => {
        const wanted = files.find(({ path }) => path === file);
        if (wanted) go(wanted);
      },
    },
    /** @returns {Gap[]} one of a file that has no rating at all, else one of each scale */
    missing: () =>
      files.flatMap((file, at) => {
        const left = scheme.block.require_all_files ? open(file) : [];
        const labels = left.length > 1 && left.length === dimensions.length ? ["Ratings"] : left.map(({ display }) => display);
        return labels.map((label) => ({ label: `${label} of ${telling(names[at], at)}`, go: () => go(file) }));
      }),
    /** @returns {string[]} */
    done: () => {
      const rated = files.flatMap((file, at) => (open(file).length ? [] : [`${telling(names[at], at)} rated`]));
      return rated.length > 3 ? [`${rated.length} files rated`] : rated;
    },
  };
}
