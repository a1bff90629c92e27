import { RecentMap } from '../../base/recent-map.js';
import { assertReference } from '../../base/validator.js';
import { type ContextOptions, Evaluation } from '../../evaluation/evaluation.js';
import type {
  EvaluationContext,
  EvaluationOperations,
  EvaluationStatus,
  PayloadReader,
} from '../../evaluation/evaluation.types.js';
import type { DueRunner } from '../../kernel/due/runner.js';
import type { Engine } from '../../kernel/engine.js';
import type { UsageWriter } from '../usage/usage-writer.js';
import type { Replica } from './environments.js';

/** What evaluation needs beside the rest of the engine. */
export interface EvaluationEngine extends Engine {
  readonly replica: Replica;
  readonly usageWriter: Pick<UsageWriter, 'dropped'>;
  readonly consumers: { counts(): EvaluationStatus['consumers'] };
  readonly due: Pick<DueRunner, 'counts'>;
  readonly payloads: PayloadReader;
}

/** Evaluation on the replica. The actors of an instance share it. */
export class ReplicaEvaluation extends Evaluation implements EvaluationOperations {
  declare private readonly engine: EvaluationEngine;
  declare private readonly contexts: RecentContexts | undefined;

  constructor(
    engine: EvaluationEngine,
    { lift, recent }: Pick<ContextOptions, 'lift'> & { readonly recent: RecentContexts | undefined },
  ) {
    const { replica, settings, payloads } = engine;
    const { state, problems, impressions, changes, counts } = replica;
    super({ state, settings, payloads, problems, impressions, changes, counts, lift, recent });
    this.engine = engine;
    this.contexts = recent;
  }

  recentContexts(): readonly EvaluationContext[] {
    return this.contexts?.list() ?? [];
  }

  projectOf(ref: { readonly flag: string } | { readonly segment: number }): string | null | undefined {
    const { documents } = this.engine.replica;
    assertReference('projectOf', ['flag'], ref);
    if ('flag' in ref) return documents.flags.get(ref.flag)?.project;
    const segment = documents.segments.get(`${ref.segment}`);
    return segment && (segment.project ?? null);
  }

  status(): EvaluationStatus {
    return this.describe(this.engine.memory.status());
  }

  async refresh(): Promise<EvaluationStatus> {
    return this.describe(await this.engine.memory.refresh());
  }

  private describe(status: EvaluationStatus): EvaluationStatus {
    const { storage } = this.engine;
    const walBytes = storage.walBytes?.();
    const { names, reports, usage } = this.engine.usageWriter.dropped;
    const due = this.engine.due.counts();
    const consumers = this.engine.consumers.counts();
    const hasDropped = names + reports + usage > 0;
    return Object.freeze({
      ...status,
      ...(walBytes !== undefined && { walBytes }),
      ...(storage.driver && { driver: storage.driver }),
      ...(due && { due }),
      ...(consumers && { consumers }),
      ...(hasDropped && { dropped: { names, reports, ...(usage > 0 && { usage }) } }),
    });
  }
}

/** A context with longer JSON is not kept, so that 1,000 of them need about 2 MB. */
const MAX_LENGTH = 1_000;
/** A context with more properties is not kept: copying them would take too long. */
const MAX_PROPERTIES = 50;

/** The contexts of the last evaluations, each once, the newest `limit` of them. They stay in the memory of the process. */
export class RecentContexts {
  private readonly texts: RecentMap<string, true>;
  private last: EvaluationContext | undefined;

  constructor(limit: number) {
    this.texts = new RecentMap(limit);
  }

  remember(context: EvaluationContext | undefined): void {
    if (context === this.last) return;
    this.last = context;
    const text = textOf(context);
    if (text !== undefined) this.texts.set(text, true);
  }

  /** Returns copies, the newest first. */
  list(): readonly EvaluationContext[] {
    return this.texts.keys().map((text): EvaluationContext => JSON.parse(text));
  }
}

/** Returns a context as JSON, without its time. Undefined for one without fields, and for one that is too large. */
function textOf(context: EvaluationContext | undefined): string | undefined {
  try {
    const { userId, sessionId, remoteAddress, environment, appName, properties = {} } = context ?? {};
    let count = 0;
    for (const _ in properties) if (++count > MAX_PROPERTIES) return undefined;
    const fields = onlyScalars({ userId, sessionId, remoteAddress, environment, appName });
    const own = onlyScalars(properties);
    const kept = Object.keys(own).length > 0 ? { ...fields, properties: own } : fields;
    const text = JSON.stringify(kept);
    return text.length > MAX_LENGTH || text === '{}' ? undefined : text;
  } catch {
    // A context may contain anything, even getters that throw.
    return undefined;
  }
}

function onlyScalars(fields: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value)),
  );
}
