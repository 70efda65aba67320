/** Who asks: the person signed in, and what they may do. */

import { get, post, setCsrf, whenKeyRequired } from "../api/client";
import type { Me, Scope } from "../api/types";

class IdentityState {
  me = $state.raw<Me | null>(null);
  /** Why nobody is known, where the server could not be asked. */
  problem = $state.raw<unknown>(null);

  constructor() {
    whenKeyRequired(() => {
      if (this.me !== null && this.me.signed_in) {
        // The key was revoked or the sign-in ran out: ask anew who one is.
        void this.load();
      }
    });
  }

  get mustSignIn(): boolean {
    return this.me !== null && this.me.needs_key && !this.me.signed_in;
  }

  /** Whether what needs this scope should be offered. */
  may(scope: Scope): boolean {
    return this.me?.scopes.includes(scope) ?? false;
  }

  /** Whether what concerns every knowledge base should be offered. */
  get mayManage(): boolean {
    return this.may("admin") && this.me?.knowledge_bases === null;
  }

  async load(): Promise<void> {
    try {
      this.adopt(await get<Me>("me"));
      this.problem = null;
    } catch (error) {
      this.problem = error;
    }
  }

  /** Sign in with a key. Throws `ApiError` where it is refused. */
  async signIn(key: string): Promise<void> {
    await post("sign-in", { key });
    await this.load();
  }

  async signOut(): Promise<void> {
    await post("sign-out");
    await this.load();
  }

  private adopt(me: Me): void {
    setCsrf(me.csrf);
    this.me = me;
  }
}

export const identity = new IdentityState();
