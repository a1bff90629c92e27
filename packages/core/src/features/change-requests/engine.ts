import type { ApprovalGate, ChangeEngine, DecidedSet, SharedEngine } from '../../kernel/changes/change-engine.js';
import type { GatedEffect } from '../../kernel/changes/change-set.types.js';
import type { Replica } from '../environments/environments.js';
import type { RequestSummary } from './change-request.js';

/** The change requests that are due by time, as far as operations need to know them. */
export interface DueRequestClock {
  /** A request was decided on this node. */
  reschedule(request: RequestSummary): void;
}

/** The gate of approvals, which also describes what it found. */
export interface DescribingGate extends ApprovalGate {
  /** Returns what a decided set does in protected environments, and the approval that it needs. */
  readonly describe: (decided: DecidedSet) => Promise<GatedEffect>;
}

/** What change requests need beside the kernel. */
interface RequestParts {
  readonly gate: DescribingGate;
  readonly dueRequests: DueRequestClock;
  readonly replica: Replica;
}

export interface SharedRequestEngine extends SharedEngine, RequestParts {
  readonly gate: DescribingGate;
}

export interface RequestEngine extends ChangeEngine, RequestParts {
  readonly gate: DescribingGate;
}
