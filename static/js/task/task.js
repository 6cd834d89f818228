/**
 * One annotator's work on one trace, as the modules of the schemes see it: answers that are kept whatever happens, who
 * may write them, and what the page says about it.
 */

import { key, on } from "../events.js";
import { Bar } from "./bar.js";
import { copyOf, one } from "./dom.js";
import { Draft } from "./draft.js";
import { Lease } from "./lease.js";
import { goToPlace } from "./places.js";
import { Session } from "./session.js";
import { read, saved, write } from "./storage.js";
import { Tabs } from "./tabs.js";
import { KEY } from "./unjudged.js";

/** @typedef {{ label: string, go: () => unknown }} Gap Something that is missing, in few words, and how to get there */
/** @typedef {{ missing(): Gap[], redraw(): void, done?(): string[], suggests?: import("./suggestions.js").Suggests }} Mounted */
/** @typedef {{ name: string, annotation_type: string, target: string, module: string, block: any, description?: string }} Scheme */
/** @typedef {{ index: number, path: string, operation: string, added: number, removed: number }} File */
/** @typedef {import("./places.js").Place} Place */
/** @typedef {{ gaps: Gap[], done: string[] }} Recount */
/**
 * @typedef {object} Work  What the modules of the schemes know of the work that they show
 * @property {Pick<TaskData, "annotator" | "api" | "tab" | "steps" | "files" | "schemes"> & { urls: { files: string, steps: string } }} data
 * @property {boolean} isReadOnly nothing can be written now
 * @property {boolean} isReading it was submitted, and is shown to whoever may read it
 * @property {string} linesPath where the API has the exact text of lines
 * @property {(name: string) => any} answers
 * @property {(name: string, answers: any) => boolean} change
 * @property {(key: string) => any} kept
 * @property {(key: string, value: any) => boolean} keep
 * @property {() => void} refresh
 * @property {() => Date} now by the server's clock
 * @property {(listen: (isReadOnly: boolean) => void) => void} onModeChange
 * @property {(listen: (recount: Recount) => void) => void} onRefresh
 * @property {(sentence: string) => void} announce
 * @property {(sentence: string, options?: { undo?: () => void }) => void} toast
 * @property {(method: string, path: string, body?: any, headers?: Record<string, string>) => Promise<import("./http.js").Answer>} api
 * @property {(place: number | Place) => Promise<HTMLElement | null>} goTo
 */
/**
 * @typedef {object} TaskData  What the server says in #task-data
 * @property {{ id: string, state: string, lease_token: number, lease_until: string | null, lease_minutes: number, configuration_version: number, project: string }} assignment
 * @property {string} annotator
 * @property {string} user
 * @property {string} api
 * @property {string} login
 * @property {string} now
 * @property {import("./draft.js").Stored} draft
 * @property {Record<string, any>} [before]  of a returned task: what was returned, by the names of schemes
 * @property {string[]} unasked  schemes that cannot judge the trace
 * @property {import("./suggestions.js").Item[]} suggestions  what a model suggests, where the annotator sees it
 * @property {"files" | "steps" | "guidelines"} tab
 * @property {{ files: string, steps: string, guidelines: string, home: string, next: string, feedback: string | null }} urls
 * @property {Scheme[]} schemes
 * @property {number} steps  how many the trace has
 * @property {File[]} files
 * @property {import("./trial.js").TrialData} [trial]  of a page for trying
 */
/**
 * open: this page writes. elsewhere: another tab or machine does. over: nothing is left to write.
 * @typedef {"open" | "elsewhere" | "over"} Mode
 */

const TOAST_MS = 10_000;

/** @implements {Work} */
export class Task {
  isReading = false;
  /** @type {Mode} */ mode = "elsewhere";
  /** @type {Mounted[]} */ #mounted = [];
  /** @type {((isReadOnly: boolean) => void)[]} */ #modeListeners = [];
  /** @type {((recount: Recount) => void)[]} */ #refreshListeners = [];
  #isRefreshing = false;
  /** @type {Promise<import("./submission.js").Submission> | undefined} */ #loading;

  /** @param {TaskData} data @param {{ session: any, tabs: any }} [trial] of a page for trying, in the place of what asks the server */
  constructor(data, trial) {
    this.data = data;
    this.leaseToken = data.assignment.lease_token;
    this.linesPath = `assignments/${data.assignment.id}/lines/`;
    const owner = `${data.user}.${data.assignment.id}`;
    this.leaseTokenKey = `potato.lease_token.${owner}`;
    this.draft = new Draft(`potato.draft.${owner}`, data.unasked, {
      put: (body, isLast) => this.ask("PUT", "draft/", { lease_token: this.leaseToken, ...body }, {}, isLast),
      choose: async (mine, theirs) => (await this.#late(() => import("./conflict.js"))).choose(data, mine, theirs),
      saved: (facts) => {
        this.lease.set(facts);
        saved(`potato.saved.${owner}`, facts.revision);
      },
      refused: (facts) => this.refuse(facts),
      replaced: () => this.#redraw(),
      show: () => this.bar.showSaved(),
    });
    /** @type {Session} */
    this.session = trial?.session ?? new Session(data);
    this.bar = new Bar(this);
    this.lease = new Lease(this, () => this.bar.showMode());
    this.submissionKey = `potato.submit.${owner}`;
    /** @type {Tabs} */
    this.tabs = trial?.tabs ?? new Tabs(`potato.${owner}`, () => this.#leave(), () => void this.#come());
    this.#listen();
  }

  /** Find out who writes; the schemes' modules are mounted after it. */
  async start() {
    const { assignment } = this.data;
    const draft = await this.#newest();
    const theirs = this.draft.load(draft);
    this.lease.set(assignment);
    if (!(await this.tabs.enter())) this.#setMode("elsewhere");
    else if (assignment.state === "claimed" && draft.revision > 0 && read(this.leaseTokenKey) !== this.leaseToken) {
      // The work was begun in another browser, which may still show it.
      await this.resume();
    } else await this.#open(theirs && { ...draft, content: theirs });
  }

  /** The stored draft. The site may have made this page before it answered the save of the page before in this tab. */
  async #newest() {
    const { draft, assignment, user } = this.data;
    if (saved(`potato.saved.${user}.${assignment.id}`) <= draft.revision) return draft;
    const { data } = await this.ask("GET", "");
    return data?.draft ?? draft;
  }

  /** @param {Mounted} module */
  add(module) {
    this.#mounted.push(module);
  }

  /* The answers ------------------------------------------------------------------------------------ */

  /** A scheme's answers as they are now; undefined where they are not begun. Never to be changed in place. @param {string} name */
  answers(name) {
    return this.draft.content.answers[name];
  }

  /** Put answers in the place of a scheme's. @param {string} name @param {any} answers @returns {boolean} false on a page that cannot write */
  change(name, answers) {
    return this.#change({ ...this.draft.content, answers: { ...this.draft.content.answers, [name]: answers } });
  }

  /** What is submitted: where the whole trace cannot be judged that alone, and why. */
  get submitted() {
    const { answers } = this.draft.content;
    return this.unjudged ? { [KEY]: this.unjudged } : answers;
  }

  /** Why the whole trace cannot be judged; "" where it can. @returns {string} */
  get unjudged() {
    const reason = this.draft.content.answers[KEY];
    return typeof reason === "string" && !this.data.schemes.some(({ name }) => name === KEY) ? reason : "";
  }

  async #cannotJudge() {
    (await this.#late(() => import("./cannot-judge.js"))).judgeTrace(this);
  }

  /** What the page keeps with the answers under a key. @param {string} key */
  kept(key) {
    return this.draft.content.page[key];
  }

  /** @param {string} key @param {any} value @returns {boolean} false on a page that cannot write */
  keep(key, value) {
    return this.#change({ ...this.draft.content, page: { ...this.draft.content.page, [key]: value } });
  }

  /** @param {import("./draft.js").Content} content */
  #change(content) {
    if (this.isReadOnly) return false;
    this.draft.change(content);
    this.refresh();
    return true;
  }

  /* Who writes --------------------------------------------------------------------------------------- */

  get isReadOnly() {
    return this.mode !== "open";
  }

  /** @param {(isReadOnly: boolean) => void} listen */
  onModeChange(listen) {
    this.#modeListeners.push(listen);
  }

  /** Write here from now on, whoever did until now. @returns {Promise<void>} */
  async resume() {
    await this.tabs.takeOver();
    const { status, data } = await this.ask("POST", "resume/");
    if (status !== 200) {
      this.#setMode(data?.code === "not_open" ? "over" : this.mode, data?.detail);
      this.toast(data?.detail ?? "The site was not reached. Nothing has changed; try again in a moment.");
      return;
    }
    await this.reopen(data);
  }

  /** Go on with an assignment as the server tells it. @param {any} assignment */
  async reopen(assignment) {
    this.leaseToken = assignment.lease_token;
    const theirs = this.draft.load(assignment.draft);
    this.#redraw();
    this.lease.set(assignment);
    await this.#open(theirs && { ...assignment.draft, content: theirs });
  }

  /** @param {import("./draft.js").Stored | null} theirs the server's copy, where it has to be chosen from */
  async #open(theirs) {
    // Another tab may have taken over while the server was asked.
    if (!this.tabs.isWriter) return this.#setMode("elsewhere");
    write(this.leaseTokenKey, this.leaseToken);
    this.#setMode("open");
    if (theirs) await this.draft.settle(theirs);
    this.draft.isHeld = false;
    this.draft.flush();
    if (read(this.submissionKey)) (await this.#submission()).recover();
  }

  /** The server let nothing more be written. @param {any} data its answer */
  async refuse(data) {
    if (data?.code === "not_open") (await this.#submission()).find(data.detail);
    else this.#setMode("elsewhere", data?.detail);
  }

  /** @param {string} [sentence] */
  close(sentence) {
    write(this.leaseTokenKey, null);
    this.#setMode("over", sentence);
  }

  /** No other tab writes any more. What they have written is read first. */
  async #come() {
    const { status, data } = await this.ask("GET", "");
    if (status === 200 && data.state === "claimed" && data.lease_token === read(this.leaseTokenKey)) await this.reopen(data);
    else await this.resume();
  }

  /** Another tab writes from now on. */
  async #leave() {
    const sent = Promise.race([this.draft.flush(), new Promise((resolve) => setTimeout(resolve, 2_000))]);
    this.#setMode("elsewhere");
    await sent;
    this.draft.isHeld = true;
  }

  /** @param {Mode} mode @param {string} [sentence] */
  #setMode(mode, sentence = "") {
    const isNew = mode !== this.mode;
    this.mode = mode;
    if (mode === "over" || (sentence && mode === "elsewhere")) this.draft.isHeld = true;
    this.bar.showMode(sentence);
    this.lease.show();
    if (isNew) for (const listen of this.#modeListeners) listen(this.isReadOnly);
    this.refresh();
  }

  /* What the page says ------------------------------------------------------------------------------- */

  #redraw() {
    for (const module of this.#mounted) module.redraw();
    this.refresh();
  }

  /** Count again what is missing, once for all changes of a moment. */
  refresh() {
    if (this.#isRefreshing) return;
    this.#isRefreshing = true;
    queueMicrotask(() => {
      this.#isRefreshing = false;
      const gaps = this.unjudged ? [] : this.#mounted.flatMap((module) => module.missing());
      const done = this.unjudged ? [`Cannot judge: ${this.unjudged}`] : this.#mounted.flatMap((module) => module.done?.() ?? []);
      this.bar.showGaps(gaps);
      this.bar.showUnjudged(this.unjudged);
      for (const listen of this.#refreshListeners) listen({ gaps, done });
    });
  }

  /** @param {(recount: Recount) => void} listen */
  onRefresh(listen) {
    this.#refreshListeners.push(listen);
    this.refresh();
  }

  /** Say a sentence to people who do not see the page. @param {string} sentence */
  announce(sentence) {
    one("[data-announce]").textContent = sentence;
  }

  /** Say a sentence for a while. @param {string} sentence @param {{ undo?: () => void }} [options] */
  toast(sentence, { undo } = {}) {
    const toast = copyOf("toast");
    one("span", toast).textContent = sentence;
    const button = /** @type {HTMLButtonElement} */ (one("button", toast));
    if (undo) {
      button.hidden = false;
      button.onclick = () => {
        toast.remove();
        this.#placeToasts();
        undo();
      };
    }
    const leave = () => {
      if (toast.matches(":hover, :focus-within")) setTimeout(leave, 2_000);
      else {
        toast.remove();
        this.#placeToasts();
      }
    };
    setTimeout(leave, TOAST_MS);
    one("#toasts").append(toast);
    this.#placeToasts();
  }

  /** Once the page has gone on to the next step, where it does. */
  #placeToasts() {
    // Without it they stand above the foot bar.
    import("./toasts.js").then(({ placeToasts }) => requestAnimationFrame(placeToasts)).catch(() => {});
  }

  /** By the server's clock. */
  now() {
    return this.lease.now();
  }

  /* Asking and going ----------------------------------------------------------------------------------- */

  /**
   * Ask the API; where the session ended the annotator signs in first. It never throws.
   * @param {string} method @param {string} path below the API's address @param {any} [body] @param {Record<string, string>} [headers]
   * @returns {Promise<import("./http.js").Answer>}
   */
  api(method, path, body, headers) {
    return this.session.request(method, path, body, headers);
  }

  /** Ask about this assignment. @param {string} method @param {string} path @param {any} [body] @param {Record<string, string>} [headers] @param {boolean} [isLast] */
  ask(method, path, body, headers, isLast) {
    return this.session.request(method, `assignments/${this.data.assignment.id}/${path}`, body, headers, isLast);
  }

  /**
   * Show a file or one of its lines, wherever the page is. On another page of the task the browser goes there.
   * @param {number | Place} place a file's index or a place in it
   * @returns {Promise<HTMLElement | null>} the row or the file; null while the browser goes elsewhere
   */
  goTo(place) {
    return goToPlace(this.data, place);
  }

  #listen() {
    on("online", ":root", () => void this.draft.flush());
    on("pagehide", ":root", () => this.draft.sendLastWords());
    on("visibilitychange", ":root", () => {
      if (document.visibilityState === "hidden") this.draft.flush();
    });
    on("pageshow", ":root", (event) => {
      // Brought back from the browser's memory: what it shows may be long over.
      if (event.persisted) location.reload();
    });
    on("beforeunload", ":root", (event) => {
      if (this.draft.isAtRisk) event.preventDefault();
    });
    on("click", "[data-take-over], [data-claim-again]", () => void this.resume());
    on("click", "[data-retry]", () => void this.#retry());
    on("click", "dialog [data-close]", (_, button) => button.closest("dialog")?.close());
    on("click", "[data-submit]", () => void this.#submit());
    on("click", "[data-cannot-judge]", () => void this.#cannotJudge());
    key("X", () => void this.#cannotJudge());
    on("click", "[data-skip]", () => void this.#submission().then((submission) => submission.askWhy()));
    on("keydown", ":root", (event) => {
      if (event.key !== "Enter" || !event.shiftKey || !(event.ctrlKey || event.metaKey)) return false;
      event.preventDefault();
      this.#submit();
      return true;
    });
  }

  async #submit() {
    if (!this.isReadOnly && !this.bar.goToFirst()) (await this.#submission()).submit();
  }

  /** What submits the work. */
  #submission() {
    return this.#late(() => {
      this.#loading ??= import("./submission.js").then(({ Submission }) => new Submission(this, this.submissionKey));
      this.#loading.catch(() => (this.#loading = undefined));
      return this.#loading;
    });
  }

  /**
   * A part of this page that is loaded after it. Without it nothing happens, and the page says so.
   * @template Part
   * @param {() => Promise<Part>} load
   * @returns {Promise<Part>}
   */
  async #late(load) {
    try {
      return await load();
    } catch {
      this.toast("That needs the site, which was not reached. Your work is kept in this browser; try again in a moment.");
      return new Promise(() => {});
    }
  }

  async #retry() {
    if (!this.session.isPutOff || (await this.session.signIn())) this.draft.flush();
  }
}
