import type { ChangeEngine, SharedEngine } from '../../kernel/changes/change-engine.js';
import type { Replica } from '../environments/environments.js';
import type { RequestSummary } from './change-request.js';
import type { DescribingGate } from './gate.js';

/** The change requests that are due by time, as far as operations need to know them. */
export interface DueRequestClock {
  /** A request was decided on this node. */
  reschedule(request: RequestSummary): void;
}

/** What change requests add to the engine. */
export interface RequestParts {
  readonly gate: DescribingGate;
  readonly dueRequests: DueRequestClock;
}

export interface SharedRequestEngine extends SharedEngine, RequestParts {
  readonly replica: Replica;
}

export interface RequestEngine extends ChangeEngine, RequestParts {
  readonly replica: Replica;
}
