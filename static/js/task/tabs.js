/**
 * Of the tabs of one browser that show the same work, one writes. Another takes over when its reader says so: the
 * first sends what it has, and lets go. A tab that is left writes again by itself once no other does.
 */

const PATIENCE = 1_000;
const LAST_WISH = 3_000;

export class Tabs {
  /** @type {(() => void) | undefined} */ #letGo;
  /** @type {BroadcastChannel} */ #others;
  #waiting = new AbortController();
  #isAsked = true;

  /**
   * @param {string} name
   * @param {() => Promise<unknown>} leave stops writing at once, and resolves when all is sent
   * @param {() => void} come it is this tab's turn, which nobody asked for now
   */
  constructor(name, leave, come) {
    this.name = name;
    this.leave = leave;
    this.come = come;
    this.#others = new BroadcastChannel(name);
    this.#others.onmessage = async () => {
      if (this.isWriter) {
        await leave();
        this.#letGo?.();
        this.#lose();
      }
      // Behind the tab that asks.
      this.#wait();
    };
  }

  get isWriter() {
    return this.#letGo !== undefined;
  }

  /** Become the one that writes, if no other tab is. The document that a reload has replaced lets go a moment later. */
  async enter() {
    // This tab did, until it was reloaded: one that waits in the line has to wait on.
    if (wrote(this.name)) {
      await this.takeOver();
      return true;
    }
    const isMine = await Promise.race([this.#wait(), new Promise((answer) => setTimeout(answer, PATIENCE, false))]);
    this.#isAsked = isMine;
    return isMine;
  }

  /** Become the one that writes. A tab that the browser has put to sleep is not waited for long. */
  async takeOver() {
    if (this.isWriter) return;
    this.#waiting.abort();
    this.#others.postMessage("leave");
    if (!(await this.#ask({ signal: AbortSignal.timeout(LAST_WISH) }))) await this.#ask({ steal: true });
  }

  #lose() {
    this.#letGo = undefined;
    this.#isAsked = false;
    wrote(this.name, false);
  }

  /** Stand in the line, at its end. */
  async #wait() {
    this.#waiting.abort();
    this.#waiting = new AbortController();
    const isMine = await this.#ask({ signal: this.#waiting.signal });
    if (isMine && !this.#isAsked) this.come();
    return isMine;
  }

  /** @param {LockOptions} options @returns {Promise<boolean>} false where it was not given, or is not waited for any more */
  #ask(options) {
    return new Promise((answer) => {
      let isHeld = false;
      const hold = () =>
        new Promise((letGo) => {
          isHeld = true;
          wrote(this.name, true);
          this.#letGo = () => letGo(undefined);
          answer(true);
        });
      // Pages without TLS have no locks; there the server's lease token alone decides who writes.
      if (!navigator.locks) hold();
      else
        navigator.locks.request(this.name, options, hold).catch(() => {
          answer(false);
          if (!isHeld) return;
          // Another tab did not wait any longer.
          this.#lose();
          this.leave();
          this.#wait();
        });
    });
  }
}

/** Whether this tab writes, or did before it was reloaded. @param {string} name @param {boolean} [now] keeps it */
function wrote(name, now) {
  try {
    if (now !== undefined) sessionStorage.setItem(name, now ? "yes" : "");
    return Boolean(sessionStorage.getItem(name));
  } catch {
    // The browser refuses storage: the tab is a new one each time.
    return false;
  }
}
