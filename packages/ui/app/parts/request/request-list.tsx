import type { ListedChangeRequest } from '../../api/types.js';
import { isOpen, stateText, subjectTitle } from '../../model/change-request.js';
import { useKnownRequest, waitsForCaller } from '../../state/change-requests.js';
import { plural, time } from '../../words.js';
import { Ago } from '../control/answer.js';
import { Link } from '../control/controls.js';
import { RequestActions } from './request-actions.js';
import { requestAdvice } from './request-words.js';

interface RequestProps {
  readonly request: ListedChangeRequest;
}

interface RequestListProps {
  readonly requests: readonly ListedChangeRequest[];
  readonly label: string;
}

/** Requests: what they change, who asks for it and why, what they wait for, and buttons for what comes next. */
export function RequestList({ requests, label }: RequestListProps) {
  return (
    <ol class="timeline" aria-label={label}>
      {requests.map((request) => (
        <RequestEntry key={request.id} request={request} />
      ))}
    </ol>
  );
}

/** A request in a list. */
export function RequestEntry({ request }: RequestProps) {
  const title = useKnownRequest(request.id)?.title ?? subjectTitle(request);
  return (
    <li>
      <div class="entry-head">
        <StateTags request={request} />
        <Link class="title" to={['changes', request.id]}>
          {title}
        </Link>
        <Author request={request} />
        <RequestActions request={request} title={title} />
      </div>
      <RequestFacts request={request} />
    </li>
  );
}

/** The state of a request, and whether it waits for the caller. */
export function StateTags({ request }: RequestProps) {
  const isBroken = request.state === 'failed' || request.state === 'expired';
  return (
    <>
      <span class={isBroken ? 'tag warning' : 'tag'}>{stateText(request)}</span>
      {waitsForCaller(request) && <span class="tag warning">waits for you</span>}
      {request.at !== null && isOpen(request.state) && <span class="tag">{time(request.at)}</span>}
    </>
  );
}

/** Who made a request and when, and who applied it. */
export function Author({ request: { author, createdAt, appliedBy, state, changeSet } }: RequestProps) {
  const isApplied = state === 'applied' && appliedBy !== null;
  return (
    <span class="muted">
      by <strong>{author.name}</strong> <Ago at={createdAt} />
      {isApplied && appliedBy.name !== author.name && (
        <>
          , applied by <strong>{appliedBy.name}</strong>
        </>
      )}{' '}
      {changeSet !== null && <Link to={['events', changeSet]}>Show the change</Link>}
    </span>
  );
}

/** The reason of a request, what it waits for, and its approvals. */
export function RequestFacts({ request }: RequestProps) {
  const { reason, state, ifUnchanged } = request;
  const advice = requestAdvice(request);
  const isBroken = state === 'failed' || state === 'expired';
  return (
    <>
      {reason && <p class="reason">{reason}</p>}
      {advice && <p class={isBroken ? 'fault-text' : 'muted'}>{advice}</p>}
      {isOpen(state) && ifUnchanged && <p class="muted">Only if nothing else has changed it until then.</p>}
      <Approvals request={request} />
    </>
  );
}

/** Who has approved a request, and whether that still counts. */
function Approvals({ request: { approvals, required } }: RequestProps) {
  if (approvals.length === 0) return null;
  const count = approvals.filter(({ current }) => current).length;
  return (
    <div class="approvals">
      <p class="muted">
        {count} of {plural(required, 'approval')}
      </p>
      <ul aria-label="Approvals">
        {approvals.map(({ actor, at, reason, current }) => (
          <li key={actor}>
            <strong>{actor}</strong> approved it <Ago at={at} />
            {reason !== null && reason !== '' && `: ${reason}`} {!current && <span class="tag warning">lapsed</span>}
          </li>
        ))}
      </ul>
    </div>
  );
}
