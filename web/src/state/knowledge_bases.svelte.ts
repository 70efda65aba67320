/** The knowledge bases that one may see, loaded once and again after changes. */

import { get } from "../api/client";
import type { KnowledgeBaseView } from "../api/types";

class KnowledgeBasesState {
  all = $state.raw<KnowledgeBaseView[]>([]);
  isLoaded = $state(false);
  problem = $state.raw<unknown>(null);

  async load(): Promise<void> {
    try {
      const answer = await get<{ knowledge_bases: KnowledgeBaseView[] }>("knowledge-bases");
      this.all = answer.knowledge_bases;
      this.isLoaded = true;
      this.problem = null;
    } catch (error) {
      this.problem = error;
    }
  }

  /** The one with this id or name. */
  find(named: string): KnowledgeBaseView | undefined {
    return this.all.find(({ knowledge_base: base }) => base.id === named || base.name === named);
  }
}

export const knowledgeBases = new KnowledgeBasesState();
