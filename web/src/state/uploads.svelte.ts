/** Files on their way to the library. They go on while one looks at other pages, and one's failure stops no other. */

import { ApiError, path } from "../api/client";
import type { Problem, Received } from "../api/types";
import { upload, type Upload } from "../api/upload";

export type UploadState = "waiting" | "sending" | "done" | "failed" | "stopped";

export class UploadItem {
  state = $state<UploadState>("waiting");
  sent = $state(0);
  received = $state.raw<Received | null>(null);
  problem = $state.raw<Problem | null>(null);

  constructor(
    readonly id: number,
    readonly base: string,
    readonly file: File,
    /** Its name in the library, with the folders it was dropped with. */
    readonly name: string,
  ) {}

  get isOver(): boolean {
    return this.state !== "waiting" && this.state !== "sending";
  }

  /** Whether a person should know more of it than that it arrived. */
  get isRemarkable(): boolean {
    const outcome = this.received?.outcome;
    return this.problem !== null || Boolean(this.received?.duplicate_of) || outcome === "unchanged" || outcome === "skipped";
  }
}

const AT_ONCE = 3;
const TRIES = 6;
const BUSY = new Set([429, 503]);

class UploadsState {
  items = $state.raw<UploadItem[]>([]);
  private sending = new Map<UploadItem, Upload>();
  private next = 1;
  private listeners = new Set<(item: UploadItem) => void>();

  constructor() {
    addEventListener("beforeunload", (event) => {
      if (this.sending.size > 0) {
        event.preventDefault();
      }
    });
  }

  of(base: string): UploadItem[] {
    return this.items.filter((item) => item.base === base);
  }

  add(base: string, files: { file: File; name: string }[]): void {
    const items = files.map(({ file, name }) => new UploadItem(this.next++, base, file, name));
    this.items = [...this.items, ...items];
    this.begin();
  }

  /** Be told of each file that arrived, until the returned function is called. */
  follow(listener: (item: UploadItem) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  again(item: UploadItem): void {
    item.state = "waiting";
    item.problem = null;
    item.sent = 0;
    this.begin();
  }

  stop(base: string): void {
    for (const item of this.of(base)) {
      if (item.state === "waiting") {
        item.state = "stopped";
      }
      this.sending.get(item)?.stop();
    }
  }

  /** Forget the files of a knowledge base that are over. */
  clear(base: string): void {
    this.items = this.items.filter((item) => item.base !== base || !item.isOver);
  }

  private begin(): void {
    for (const item of this.items) {
      if (this.sending.size >= AT_ONCE) {
        return;
      }
      if (item.state === "waiting" && !this.sending.has(item)) {
        void this.send(item);
      }
    }
  }

  private async send(item: UploadItem): Promise<void> {
    item.state = "sending";
    const where = path("knowledge-bases", item.base, "documents", "upload");
    try {
      for (let tries = 1; ; tries += 1) {
        const sending = upload(where, item.file, item.name, (sent) => (item.sent = sent));
        this.sending.set(item, sending);
        try {
          item.received = await sending.result;
          break;
        } catch (error) {
          const isBusy = error instanceof ApiError && BUSY.has(error.status);
          if (!isBusy || tries === TRIES) {
            throw error;
          }
          await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** tries));
        }
      }
      item.sent = item.file.size;
      item.problem = item.received.problem ?? null;
      item.state = item.received.outcome === "blocked" ? "failed" : "done";
    } catch (error) {
      item.state = error instanceof ApiError ? "failed" : "stopped";
      item.problem = error instanceof ApiError ? error : null;
    } finally {
      this.sending.delete(item);
    }
    for (const listener of this.listeners) {
      listener(item);
    }
    this.begin();
  }
}

export const uploads = new UploadsState();
