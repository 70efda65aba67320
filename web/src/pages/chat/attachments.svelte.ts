/** What is attached to a conversation, and how it stands. */

import { ApiError, del, get, path } from "../../api/client";
import type { Problem } from "../../api/types";
import { upload, type Upload } from "../../api/upload";
import type { Conversation } from "./conversation.svelte";
import type { Attachment } from "./types";

const POLL_MS = 1200;

export class Sending {
  sent = $state(0);
  problem = $state.raw<Problem | null>(null);
  upload: Upload | null = null;

  constructor(readonly file: File) {}
}

export class Attachments {
  all = $state.raw<Attachment[]>([]);
  sending = $state.raw<Sending[]>([]);
  private polling: ReturnType<typeof setTimeout> | undefined;
  private isClosed = false;

  constructor(private readonly conversation: Conversation) {}

  get byId(): Map<string, string> {
    return new Map(this.all.map((one) => [one.id, one.name]));
  }

  async load(): Promise<void> {
    clearTimeout(this.polling);
    const session = this.conversation.session;
    if (session === null || this.isClosed) {
      return;
    }
    this.all = (await get<{ attachments: Attachment[] }>(path("sessions", session.id, "attachments"))).attachments;
    if (this.all.some((one) => one.index_status === "pending" || one.index_status === "indexing")) {
      // An attachment belongs to one person alone, and what is told to all of jobs leaves it out.
      this.polling = setTimeout(() => void this.load().catch(() => undefined), POLL_MS);
    }
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.polling);
    for (const one of this.sending) {
      one.upload?.stop();
    }
  }

  add(files: Iterable<File>): void {
    const added = [...files].map((file) => new Sending(file));
    this.sending = [...this.sending, ...added];
    void this.sendAll(added);
  }

  private async sendAll(added: Sending[]): Promise<void> {
    for (const one of added) {
      await this.send(one);
    }
  }

  forget(one: Sending): void {
    one.upload?.stop();
    this.sending = this.sending.filter((other) => other !== one);
  }

  async remove(one: Attachment): Promise<void> {
    await del(path("sessions", one.session_id, "attachments", one.id));
    this.all = this.all.filter((other) => other.id !== one.id);
  }

  private async send(one: Sending): Promise<void> {
    try {
      const session = await this.conversation.ensured();
      const where = path("sessions", session.id, "attachments", "upload");
      one.upload = upload(where, one.file, one.file.name, (sent) => (one.sent = sent));
      const received = await one.upload.result;
      if (received.problem) {
        one.problem = received.problem;
      } else {
        this.forget(one);
      }
      await this.load();
    } catch (error) {
      if (error instanceof ApiError) {
        one.problem = error;
      } else if (error instanceof DOMException) {
        this.forget(one);
      } else {
        throw error;
      }
    }
  }
}
