/**
 * Of the tabs of one browser that show the same work, one writes. Another takes over when its reader says so; the
 * first sends what it has, and lets go.
 */

const PATIENCE = 400;
const LAST_WISH = 3_000;

export class Tabs {
  /** @type {(() => void) | undefined} */ #letGo;
  /** @type {BroadcastChannel} */ #others;

  /** @param {string} name @param {() => Promise<unknown>} leave stops writing at once, and resolves when all is sent */
  constructor(name, leave) {
    this.name = name;
    this.leave = leave;
    this.#others = new BroadcastChannel(name);
    this.#others.onmessage = async () => {
      if (!this.isWriter) return;
      await leave();
      this.#letGo?.();
      this.#letGo = undefined;
    };
  }

  get isWriter() {
    return this.#letGo !== undefined;
  }

  /** Become the one that writes, if no other tab is. The document that a reload has replaced lets go a moment later. */
  async enter() {
    return this.isWriter || this.#ask({ signal: AbortSignal.timeout(PATIENCE) });
  }

  /** Become the one that writes. A tab that the browser has put to sleep is not waited for long. */
  async takeOver() {
    if (this.isWriter) return;
    this.#others.postMessage("leave");
    if (!(await this.#ask({ signal: AbortSignal.timeout(LAST_WISH) }))) await this.#ask({ steal: true });
  }

  /** @param {LockOptions} options @returns {Promise<boolean>} */
  #ask(options) {
    return new Promise((answer) => {
      const hold = () => new Promise((letGo) => {
        this.#letGo = () => letGo(undefined);
        answer(true);
      });
      // Pages without TLS have no locks; there the server's fence alone decides who writes.
      if (!navigator.locks) hold();
      else
        navigator.locks.request(this.name, options, hold).catch(() => {
          // It was not given in time, or it was taken away.
          answer(false);
          if (!this.isWriter) return;
          this.#letGo = undefined;
          this.leave();
        });
    });
  }
}
