/**
 * What the annotator has done so far. Each change is kept in this browser at once, and on the server after a pause;
 * whoever changed the server's copy meanwhile is never overwritten without asking.
 *
 * Each save carries a mark in its page part. A mark of ours in the server's copy means that an answer was lost on the
 * way, and not that somebody else was at work.
 */

import { isSame, read, uid, write } from "./storage.js";

const PAUSE = 800;
const LONGEST_PAUSE = 4_000;
const LONGEST_WAIT = 30_000;
/** What browsers send for a page that is being left, in bytes. */
const LAST_WORDS = 60_000;
/** Keystrokes closer together than this count as one change. */
const ONE_CHANGE = 1_000;

/** @typedef {{ answers: Record<string, any>, page: Record<string, any> }} Content */
/** @typedef {{ revision: number, content: Content | null }} Stored */
/** @typedef {import("./http.js").Answer} Answer */
/**
 * @typedef {object} Hooks
 * @property {(body: { revision: number, content: Content }, isLast: boolean) => Promise<Answer>} put
 * @property {(mine: Content, theirs: Content) => Promise<"mine" | "theirs">} choose
 * @property {(data: any) => void} saved
 * @property {(data: any) => void} refused  another page goes on, or the assignment is over
 * @property {() => void} replaced  the content is another one than the page shows
 * @property {() => void} show  the state is another one
 */

export class Draft {
  /** @type {Content} */ content = { answers: {}, page: {} };
  revision = 0;
  /** How many changes the server does not have. */
  changes = 0;
  /** @type {"saved" | "waiting" | "saving" | "offline" | "failed" | "signed-out"} */ state = "saved";
  /** Why the server did not take it, where it said so. @type {string} */ sentence = "";
  /** @type {string} */ savedAt = "";
  isKeptHere = true;
  /** While held nothing is sent: another page is at work, or a choice is open. */
  isHeld = true;

  /** @type {string[]} */ #marks = [];
  #version = 0;
  #savedVersion = 0;
  #changedAt = 0;
  #waitingSince = 0;
  #failures = 0;
  #timer = 0;
  /** @type {Promise<boolean> | undefined} */ #saving;

  /**
   * @param {string} key of the browser's storage
   * @param {string[]} unasked schemes that cannot judge the trace: their answers, kept before that was known, are dropped
   * @param {Hooks} hooks
   */
  constructor(key, unasked, hooks) {
    this.key = key;
    this.unasked = unasked;
    this.hooks = hooks;
  }

  get isDirty() {
    return this.#version !== this.#savedVersion;
  }

  /** Whether work would be lost if the page closed now. */
  get isAtRisk() {
    return this.isDirty && !this.isKeptHere;
  }

  /**
   * Start from what is kept here where that has not reached the server, else from what the server has.
   * @param {Stored} stored
   * @returns {Content | null} the server's copy, where it is neither what ours was made from nor what we sent
   */
  load(stored) {
    const here = read(this.key);
    this.revision = stored.revision;
    this.content = this.#whole(stored.content);
    this.#savedVersion = this.#version;
    if (!here) return null;
    this.#marks = here.marks;
    const isNext = here.revision === stored.revision || this.#isOurs(stored.content);
    if (!isNext && isSame(work(this.#whole(here.content)), work(this.content))) {
      write(this.key, null);
      return null;
    }
    const theirs = this.content;
    this.content = this.#whole(here.content);
    this.changes = here.changes;
    this.state = "waiting";
    this.#version += 1;
    return isNext ? null : theirs;
  }

  /** @param {Content} content replaces what is there and is never changed itself */
  change(content) {
    const now = Date.now();
    if (now - this.#changedAt > ONE_CHANGE || !this.isDirty) this.changes += 1;
    this.#changedAt = now;
    this.content = content;
    this.#version += 1;
    this.#keepHere();
    this.#waitingSince ||= now;
    if (!this.#failures) {
      this.state = "waiting";
      this.#schedule(Math.min(PAUSE, Math.max(0, this.#waitingSince + LONGEST_PAUSE - now)));
    }
    this.hooks.show();
  }

  /** Send what is not on the server, now. @returns {Promise<boolean>} whether the server has everything */
  async flush() {
    while (this.isDirty) {
      if (!(await this.#save())) return false;
    }
    return true;
  }

  /** The page is being left: send without waiting for the answer. */
  sendLastWords() {
    if (!this.isDirty || this.isHeld) return;
    const body = this.#body();
    if (new TextEncoder().encode(JSON.stringify(body)).length < LAST_WORDS) this.hooks.put(body, true);
  }

  /** What is kept here is not needed any more. */
  forget() {
    clearTimeout(this.#timer);
    this.#savedVersion = this.#version;
    this.#settled();
  }

  /**
   * Let the annotator choose where the server's copy is somebody else's.
   * @param {Stored} theirs
   */
  async settle({ revision, content }) {
    const other = this.#whole(content);
    if (!this.#isOurs(content) && !isSame(work(other), work(this.content))) {
      this.isHeld = true;
      if ((await this.hooks.choose(this.content, other)) === "theirs") this.take(other);
      this.isHeld = false;
    }
    this.revision = revision;
    this.#keepHere();
  }

  /** Show the server's copy in the place of ours. @param {Content} content */
  take(content) {
    this.content = content;
    this.forget();
    this.hooks.replaced();
  }

  /** @param {any} content @returns {Content} */
  #whole(content) {
    const { answers, page } = whole(content);
    return { answers: Object.fromEntries(Object.entries(answers).filter(([name]) => !this.unasked.includes(name))), page };
  }

  /** @param {Content | null} content */
  #isOurs(content) {
    return this.#marks.includes(content?.page?.mark);
  }

  #keepHere() {
    const { revision, content, changes } = this;
    this.isKeptHere = !this.isDirty || write(this.key, { revision, content, changes, marks: this.#marks });
  }

  #body() {
    const mark = uid();
    this.#marks.push(mark);
    this.#keepHere();
    return { revision: this.revision, content: { ...this.content, page: { ...this.content.page, mark } } };
  }

  /** @param {number} delay in milliseconds */
  #schedule(delay) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#save(), delay);
  }

  #save() {
    clearTimeout(this.#timer);
    this.#saving ??= this.#send().finally(() => (this.#saving = undefined));
    return this.#saving;
  }

  /** @returns {Promise<boolean>} whether it is worth going on */
  async #send() {
    if (this.isHeld || !this.isDirty) return !this.isDirty;
    const [version, changes] = [this.#version, this.changes];
    this.#waitingSince = 0;
    this.state = "saving";
    this.hooks.show();
    const { status, data } = await this.hooks.put(this.#body(), false);
    if (status === 200) {
      this.#failures = 0;
      this.revision = data.revision;
      this.savedAt = data.saved_at;
      this.#savedVersion = version;
      this.changes -= changes;
      this.#settled();
      this.hooks.saved(data);
      return true;
    }
    if (status === 409 && data?.code === "draft_conflict") {
      await this.settle(data);
      if (this.isDirty) this.#schedule(0);
      return true;
    }
    this.state = status === 0 ? "offline" : status === 401 ? "signed-out" : "failed";
    this.sentence = data?.detail ?? "";
    this.#failures += 1;
    if (status === 409) this.hooks.refused(data);
    else if (status !== 401) this.#schedule(Math.min(LONGEST_WAIT, 500 * 2 ** this.#failures) * (0.8 + Math.random() * 0.4));
    this.hooks.show();
    return false;
  }

  /** After the server's copy has become ours, or ours has become the server's. */
  #settled() {
    this.#marks = [];
    if (this.isDirty) {
      this.#keepHere();
      this.state = "waiting";
      this.#schedule(PAUSE);
    } else {
      write(this.key, null);
      this.isKeptHere = true;
      this.changes = 0;
      this.state = "saved";
    }
    this.hooks.show();
  }
}

/** A program may leave either part out, and keep any JSON as the page's. @param {any} content @returns {Content} */
function whole(content) {
  const { answers, page } = content ?? {};
  return { answers: answers ?? {}, page: page && typeof page === "object" && !Array.isArray(page) ? page : {} };
}

/** What a person has done, without where they looked. @param {Content | null} content */
function work(content) {
  return [content?.answers ?? {}, content?.page?.forms ?? []];
}
