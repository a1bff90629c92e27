import type { ApprovalPolicy } from '../../api/types.js';
import { isOpen, plannedOf, requestTitle } from '../../model/change-request.js';
import { ScreenFrame } from '../../parts/frame/screen.js';
import { FlagLinks } from '../../parts/request/flag-links.js';
import { RequestActions } from '../../parts/request/request-actions.js';
import { Author, RequestFacts, StateTags } from '../../parts/request/request-list.js';
import { describePolicy } from '../../parts/request/request-words.js';
import { PlannedChanges } from '../../parts/review/planned-changes.js';
import { loadedPolicy } from '../../state/approvals.js';
import { type PlannedRequest, usePlannedRequest } from '../../state/change-requests.js';

/** The screen of one request: what its author saw in the review, and the buttons that decide on it. */
export function RequestScreen({ id }: { readonly id: string }) {
  const reply = usePlannedRequest(id);
  const title = reply.data ? requestTitle(reply.data.request.changes) : 'Change request';
  return (
    <ScreenFrame back={{ to: ['changes'], label: 'Changes' }} title={title} reply={reply}>
      {(planned) => <RequestPage planned={planned} title={title} />}
    </ScreenFrame>
  );
}

interface RequestPageProps {
  readonly planned: PlannedRequest;
  readonly title: string;
}

function RequestPage({ planned, title }: RequestPageProps) {
  const { request } = planned;
  const { effect, changes, flags, environments } = request;
  const content = <RequestContent {...planned} />;
  return (
    <>
      <section class="card request" aria-label="Change request">
        <div class="entry-head">
          <StateTags request={request} />
          <FlagLinks flags={flags} />
          {environments.map((name) => (
            <span key={name} class="tag">
              {name}
            </span>
          ))}
          <Author request={request} />
          <RequestActions request={request} title={title} seen={{ effect, changes, content }} />
        </div>
        <RequestFacts request={request} />
      </section>
      {isOpen(request.state) && (
        <section class="card request" aria-label="What it would do now">
          {content}
        </section>
      )}
    </>
  );
}

const EMPTY: ApprovalPolicy = { environments: {}, unknownEnvironments: [] };

/** What a request would do now: as in the review that made it. */
function RequestContent({ request, plan, refusal }: PlannedRequest) {
  const { changes } = request;
  if (refusal?.status === 403) return <p class="muted">You may not see what it changes.</p>;
  if (refusal) return <p class="fault-text">If it were applied now, it would be refused: {refusal.message}</p>;
  const policies = changes.flatMap((change) =>
    change.op === 'setApprovalPolicy'
      ? describePolicy(loadedPolicy.value ?? EMPTY, change.input as ApprovalPolicy)
      : [],
  );
  const planned = plannedOf(changes);
  return (
    <>
      {policies.length > 0 && (
        <ul class="differences" aria-label="Approvals that changes need">
          {policies.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
      {(planned.changes.length > 0 || planned.undoes !== undefined) && <PlannedChanges plan={plan} {...planned} />}
    </>
  );
}
