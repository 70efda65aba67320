/** The conversations there are. Other tabs of this browser are told of changes, and tell. */

import { del, get, patch, path } from "../../api/client";
import type { Session } from "../../api/types";

type Listener = (session: string) => void;

class SessionsState {
  all = $state.raw<Session[]>([]);
  isLoaded = $state(false);
  problem = $state.raw<unknown>(null);

  private readonly channel = new BroadcastChannel("wenyuan.sessions");
  private readonly listeners = new Set<Listener>();

  constructor() {
    this.channel.onmessage = (event: MessageEvent<string>) => {
      void this.load();
      for (const listener of this.listeners) {
        listener(event.data);
      }
    };
  }

  async load(): Promise<void> {
    try {
      this.all = (await get<{ sessions: Session[] }>("sessions", { limit: 500 })).sessions;
      this.isLoaded = true;
      this.problem = null;
    } catch (error) {
      this.problem = error;
    }
  }

  /** Be told when another tab changed a session, until the returned function is called. */
  follow(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Show a session that was just made. */
  note(session: Session): void {
    this.all = [session, ...this.all.filter((one) => one.id !== session.id)];
  }

  changed(session: string): void {
    this.channel.postMessage(session);
    void this.load();
  }

  async rename(session: Session, title: string): Promise<void> {
    await patch(path("sessions", session.id), { title });
    this.changed(session.id);
  }

  async remove(session: Session): Promise<void> {
    await del(path("sessions", session.id));
    this.all = this.all.filter((one) => one.id !== session.id);
    this.changed(session.id);
  }
}

export const sessions = new SessionsState();
