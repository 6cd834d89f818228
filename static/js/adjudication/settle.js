/**
 * Settling what annotators disagree about: a digit keeps what one of them says, the others merge, rewrite, drop or take what
 * most say. Every change is kept by the site; what is final is made in one request, which can be repeated.
 */

import { key, on } from "../events.js";
import { send } from "../task/http.js";
import { uid } from "../task/storage.js";

/** @typedef {string | number | boolean | null} Value */
/** @typedef {{ scheme: string, key: string, title: string, isOpen: boolean, isOptional: boolean, isPlace: boolean, isRating: boolean, consensus: string | null, answers: Record<string, Record<string, Value>>, fields: { name: string, isRequired: boolean, values: Value[] }[] }} Question */
/** @typedef {{ scheme: string, key: string, how: string, taken_from: string[], fields: Record<string, Value> | null, note: string }} Settlement */
/** @type {{ lease_token: number, revision: number, settled: Settlement[], api: string, queue: string, questions: Record<string, Question> }} */
const data = JSON.parse(document.getElementById("settle-data")?.textContent ?? "");
const SAVED_EVERY = 4 * 60_000;

const sections = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-question]")]);
/** @type {Map<string, Settlement>} */
const settled = new Map();
for (const settlement of data.settled) {
  const id = Object.keys(data.questions).find((each) => data.questions[each]?.scheme === settlement.scheme && data.questions[each]?.key === settlement.key);
  if (id) settled.set(id, settlement);
}
let here = 0;
let revision = data.revision;
let isSaving = false;
let isChanged = false;
/** What was asked for last, and under which key: a repetition is answered, a change is new. */
const last = { request: "", key: "" };

/** @param {string} selector @param {ParentNode} [within] */
const one = (selector, within = document) => /** @type {HTMLElement | null} */ (within.querySelector(selector));

/** @param {string} sentence */
function announce(sentence) {
  const place = one("[data-announce]");
  if (place) place.textContent = sentence;
}

/** @param {string} sentence "" hides it */
function complain(sentence) {
  const banner = one("[data-problem]"), words = one("[data-problem-words]");
  if (!banner || !words) return;
  words.textContent = sentence;
  banner.hidden = !sentence;
  if (sentence) banner.scrollIntoView({ block: "center" });
}

/** @param {string} id */
const question = (id) => /** @type {Question} */ (data.questions[id]);
/** @param {string} id */
const isLeft = (id) => question(id).isOpen && !settled.has(id);
const left = () => sections.filter((section) => isLeft(section.id));

/** What was done, in words. @param {string} id */
function words(id) {
  const own = settled.get(id);
  if (!own) return question(id).isOpen ? "" : `Filled in as most say, from ${question(id).consensus}`;
  const from = own.taken_from.join(", ");
  /** @type {Record<string, string>} */
  const known = {
    kept: `Kept from ${from}`,
    merged: `Merged from ${from}`,
    rewritten: question(id).isRating ? "Chosen anew" : "Written anew",
    dropped: "Left out",
    consensus: `As most say, from ${question(id).consensus}`,
  };
  return known[own.how] ?? "Settled";
}

/** What became final of the first field; undefined where nothing did, or it was left out. @param {string} id */
function finalValue(id) {
  const { answers, consensus, fields, isOpen } = question(id), own = settled.get(id), name = fields[0]?.name ?? "";
  if (own?.how === "dropped" || (!own && isOpen)) return undefined;
  if (own?.fields && name in own.fields) return own.fields[name];
  const from = own && own.how !== "consensus" ? own.taken_from[0] : consensus;
  return from ? answers[from]?.[name] : undefined;
}

/** The value that a button chooses. @param {string} id @param {Element} button */
const valueOf = (id, button) => question(id).fields[0]?.values[Number(button.getAttribute("data-choose"))];

/** The row of the table of steps: which one is here, and what is final. @param {HTMLElement} section @param {boolean} isDone */
function showInRow(section, isDone) {
  const row = one(`[data-row="${section.id}"]`), cell = row && one("[data-final]", row);
  if (!row || !cell) return;
  row.classList.toggle("is-here", section === sections[here]);
  const chosen = /** @type {HTMLElement | null} */ (section.querySelector('[data-choose][aria-pressed="true"]'));
  const isLeftOut = isDone && !chosen;
  cell.classList.toggle("is-open", !chosen);
  cell.classList.toggle("tint", !!chosen);
  if (chosen?.dataset.c) cell.dataset.c = chosen.dataset.c;
  else delete cell.dataset.c;
  cell.textContent = chosen ? (chosen.firstElementChild?.nextSibling ?? chosen.firstChild)?.textContent?.trim() ?? "" : isLeftOut ? words(section.id) : "Choose";
}

function show() {
  for (const section of sections) {
    const { id } = section, own = settled.get(id), done = one("[data-done]", section), isDone = !isLeft(id);
    section.classList.toggle("is-settled", isDone);
    section.classList.toggle("is-here", section === sections[here]);
    if (done) done.hidden = !isDone;
    const text = one("[data-done-words]", section), undo = one("[data-undo]", section);
    if (text) text.textContent = words(id);
    if (undo) undo.hidden = !own;
    const taken = own ? own.taken_from : isDone && question(id).consensus ? [/** @type {string} */ (question(id).consensus)] : [];
    for (const answer of section.querySelectorAll("[data-answer]")) answer.classList.toggle("is-taken", taken.includes(answer.getAttribute("data-answer") ?? ""));
    const value = finalValue(id);
    for (const button of section.querySelectorAll("[data-choose]")) button.setAttribute("aria-pressed", String(value !== undefined && valueOf(id, button) === value));
    showInRow(section, isDone);
    const rail = one(`[data-rail="${id}"]`);
    rail?.classList.toggle("is-settled", isDone);
    const missing = one(`[data-missing-of="${id}"]`);
    if (missing) missing.hidden = isDone;
  }
  for (const count of document.querySelectorAll("[data-of-file], [data-of-ratings]")) {
    const own = [...(count.closest("article, section")?.querySelectorAll("[data-question]") ?? [])];
    count.textContent = own.length ? `${own.filter((section) => !isLeft(section.id)).length} of ${own.length} settled` : "All say the same";
  }
  const number = left().length, bar = one("[data-bar-left]"), rail = one("[data-rail-left]"), tab = one("[data-left]");
  if (bar) bar.textContent = number ? `${number} decision${number === 1 ? "" : "s"} left` : "All is settled";
  if (rail) rail.textContent = `${number} of ${sections.length}`;
  if (tab) tab.textContent = `${number} left`;
  const submit = /** @type {HTMLButtonElement | null} */ (one("[data-submit]"));
  if (submit) submit.disabled = number > 0;
}

const body = () => [...settled.values()];

async function save() {
  isChanged = true;
  if (isSaving) return;
  isSaving = true;
  while (isChanged) {
    isChanged = false;
    const answer = await send("PUT", data.api, JSON.stringify({ lease_token: data.lease_token, revision, settled: body() }), { "Content-Type": "application/json" });
    const said = one("[data-saved]");
    if (answer.status === 200) {
      ({ revision } = answer.data);
      if (said) said.textContent = "Saved";
      complain("");
      continue;
    }
    if (said) said.textContent = "Not saved";
    complain(answer.data?.detail ?? "The site was not reached. What you settled is on this page; the next change is tried again.");
  }
  isSaving = false;
}

/** @param {number} at @param {boolean} [isFocused] */
function goTo(at, isFocused = true) {
  const section = sections[at];
  if (!section) return;
  here = at;
  show();
  if (isFocused) section.focus({ preventScroll: true });
  section.scrollIntoView({ block: "center" });
}

/** @param {1 | -1} direction */
function goToOpen(direction) {
  const all = sections.map((_, at) => (here + direction * (at + 1) + sections.length * 2) % sections.length);
  const next = all.find((at) => isLeft(sections[at]?.id ?? ""));
  if (next === undefined) {
    announce("All is settled");
    one("[data-submit]")?.focus();
    return;
  }
  goTo(next);
  announce(`${question(sections[next]?.id ?? "").title}, ${left().length} left`);
}

/** @param {string} id @param {Partial<Settlement>} what */
function settle(id, what) {
  const { scheme, key: name } = question(id);
  const note = /** @type {HTMLTextAreaElement | null} */ (one(`#${id} [data-note]`))?.value ?? "";
  settled.set(id, { scheme, key: name, how: "kept", taken_from: [], fields: null, note, ...what });
  const form = /** @type {HTMLFormElement | null} */ (one(`#${id} [data-form]`));
  if (form) form.hidden = true;
  void save();
  show();
  announce(words(id));
  here = sections.findIndex((section) => section.id === id);
  goToOpen(1);
}

/** @param {string} id @param {string} how @param {string} [letter] */
function act(id, how, letter = "") {
  const { answers, consensus, isOptional, isPlace, fields } = question(id);
  if (how === "kept") {
    if (!answers[letter]) return false;
    settle(id, { how, taken_from: [letter] });
  } else if (how === "consensus") {
    if (!consensus) return false;
    settle(id, { how });
  } else if (how === "dropped") {
    if (!isOptional) return false;
    settle(id, { how });
  } else {
    if (!fields.length || (how === "merged" && (!isPlace || Object.keys(answers).length < 2))) return false;
    write(id, how);
  }
  return true;
}

/**
 * Settle by the value of the first field: as the first who said it, else written anew where nothing else has to be.
 * @param {string} id @param {Element} button
 */
function choose(id, button) {
  const { answers, fields } = question(id), [first, ...others] = fields, value = valueOf(id, button);
  if (!first || value === undefined) return;
  const said = Object.keys(answers).sort().find((letter) => answers[letter]?.[first.name] === value);
  if (said) settle(id, { how: "kept", taken_from: [said] });
  else if (others.some((field) => field.isRequired)) write(id, "rewritten", value);
  else settle(id, { how: "rewritten", fields: { [first.name]: value, ...Object.fromEntries(others.map((field) => [field.name, null])) }, taken_from: Object.keys(answers).sort().slice(0, 1) });
}

/** Open the form with what is there: what was written before, else what is merged or what most say. @param {string} id @param {string} how @param {Value} [first] of the first field */
function write(id, how, first) {
  const { answers, consensus, fields } = question(id), own = settled.get(id);
  const form = /** @type {HTMLFormElement | null} */ (one(`#${id} [data-form]`));
  if (!form) {
    (one(`#${id} [data-choose][aria-pressed="true"]`) ?? one(`#${id} [data-choose]`))?.focus();
    return;
  }
  const letters = Object.keys(answers).sort();
  const base = answers[own?.taken_from[0] ?? consensus ?? letters[0] ?? ""] ?? {};
  const texts = (/** @type {string} */ name) => [...new Set(letters.map((letter) => answers[letter]?.[name]).filter((text) => typeof text === "string" && text))];
  for (const [at, { name, values }] of fields.entries()) {
    const value = at === 0 && first !== undefined ? first : own?.fields?.[name] ?? (how === "merged" && !values.length ? texts(name).join("\n\n") : base[name]);
    for (const field of form.querySelectorAll(`[data-field="${CSS.escape(name)}"]`)) {
      if (field instanceof HTMLInputElement) field.checked = values[Number(field.value)] === value;
      if (field instanceof HTMLTextAreaElement) field.value = typeof value === "string" ? value : "";
    }
  }
  form.dataset.how = how;
  form.hidden = false;
  const begin = /** @type {HTMLElement | null} */ ((first === undefined ? null : form.querySelector("textarea")) ?? form.querySelector("input:checked") ?? form.querySelector("input, textarea"));
  begin?.focus();
  form.scrollIntoView({ block: "nearest" });
}

/** @param {HTMLFormElement} form */
function keepWritten(form) {
  const id = form.closest("[data-question]")?.id ?? "";
  const { answers, fields } = question(id), how = form.dataset.how ?? "rewritten";
  /** @type {Record<string, Value>} */
  const written = {};
  for (const { name, values } of fields) {
    const chosen = /** @type {HTMLInputElement | null} */ (form.querySelector(`input[data-field="${CSS.escape(name)}"]:checked`));
    const text = /** @type {HTMLTextAreaElement | null} */ (form.querySelector(`textarea[data-field="${CSS.escape(name)}"]`));
    if (chosen) written[name] = values[Number(chosen.value)] ?? null;
    else if (text) written[name] = text.value.trim() ? text.value : null;
  }
  const letters = Object.keys(answers).sort();
  settle(id, { how, fields: written, taken_from: how === "merged" ? letters : letters.slice(0, 1) });
}

/** @param {string} id */
function undo(id) {
  if (!settled.delete(id)) return false;
  void save();
  show();
  announce("Undone");
  return true;
}

async function submit() {
  const button = /** @type {HTMLButtonElement | null} */ (one("[data-submit]"));
  if (!button || button.disabled) return;
  button.disabled = true;
  const tells = /** @type {HTMLInputElement | null} */ (one("[data-tells]"))?.checked ?? true;
  const request = JSON.stringify({ lease_token: data.lease_token, settled: body(), tells });
  const answer = await send("POST", `${data.api}submit/`, request, { "Content-Type": "application/json", "Idempotency-Key": keyOf(request) });
  if (answer.status === 201) return location.assign(data.queue);
  const gaps = /** @type {{ sentence: string }[]} */ (answer.data?.gaps ?? []).map((gap) => gap.sentence).join(" ");
  complain(gaps || (answer.data?.detail ?? "The site was not reached. What you settled is kept; try again."));
  button.disabled = false;
}

/** @param {string} request */
function keyOf(request) {
  if (request !== last.request) Object.assign(last, { request, key: uid() });
  return last.key;
}

const idHere = () => sections[here]?.id ?? "";
key("d", () => goToOpen(1));
key("D", () => goToOpen(-1));
key("j", () => goTo(Math.min(here + 1, sections.length - 1)));
key("k", () => goTo(Math.max(here - 1, 0)));
for (let digit = 1; digit <= 9; digit += 1) key(String(digit), () => act(idHere(), "kept", "ABCDEFGHI"[digit - 1]));
key("0", () => act(idHere(), "dropped"));
key("c", () => act(idHere(), "consensus"));
key("w", () => /** @type {HTMLElement | null} */ (sections[here]?.querySelector("[data-weighed]"))?.click());
key("m", () => act(idHere(), "merged"));
key("e", () => act(idHere(), "rewritten"));
key("z", () => undo(idHere()));
key("f", () => void submit());
key("s", () => /** @type {HTMLFormElement | null} */ (one("[data-later]"))?.requestSubmit());
key("Escape", () => one("a[data-back]")?.click());

on("click", "[data-question] [data-do]", (_, button) => {
  act(button.closest("[data-question]")?.id ?? "", button.dataset.do ?? "", button.dataset.letter);
  return true;
});
on("click", "[data-question] [data-choose]", (_, button) => {
  choose(button.closest("[data-question]")?.id ?? "", button);
  return true;
});
on("click", "[data-go]", (event, link) => {
  event.preventDefault();
  goTo(sections.findIndex((section) => section.id === link.dataset.go));
  return true;
});
on("click", "[data-undo]", (_, button) => void undo(button.closest("[data-question]")?.id ?? ""));
on("click", "[data-cancel]", (_, button) => close(/** @type {HTMLFormElement} */ (button.closest("form"))));
on("click", "[data-submit]", () => void submit());
on("click", "[data-rail], [data-missing-of]", (event, link) => {
  event.preventDefault();
  goTo(sections.findIndex((section) => `#${section.id}` === link.getAttribute("href")));
  return true;
});
on("focusin", "[data-question]", (_, section) => {
  const at = sections.indexOf(section);
  if (at >= 0 && at !== here) {
    here = at;
    show();
  }
});
on("submit", "form[data-form]", (event, form) => {
  event.preventDefault();
  keepWritten(/** @type {HTMLFormElement} */ (form));
  return true;
});
on("keydown", "form[data-form]", (event, form) => {
  if (event.key === "Escape") {
    event.preventDefault();
    close(/** @type {HTMLFormElement} */ (form));
    return true;
  }
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  keepWritten(/** @type {HTMLFormElement} */ (form));
  return true;
});
on("change", "[data-note]", (_, note) => {
  const own = settled.get(note.closest("[data-question]")?.id ?? "");
  if (!own) return;
  own.note = /** @type {HTMLTextAreaElement} */ (note).value;
  void save();
});

/** @param {HTMLFormElement} form */
function close(form) {
  form.hidden = true;
  /** @type {HTMLElement | null} */ (form.closest("[data-question]"))?.focus({ preventScroll: true });
}

for (const [id, own] of settled) {
  const note = /** @type {HTMLTextAreaElement | null} */ (one(`#${id} [data-note]`));
  if (note) note.value = own.note;
}
// A sign of life: the trace stays held while its page is open.
setInterval(() => void (document.visibilityState === "visible" && save()), SAVED_EVERY);
here = Math.max(0, sections.findIndex((section) => isLeft(section.id)));
show();
sections[here]?.focus({ preventScroll: true });
