import { audienceOf, describeAudience, ownStrategiesOf } from '@flags/core/admin';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useResource } from '../../api/resource.js';
import type { FlagDetail, FlagEnvironment, ListedChangeRequest } from '../../api/types.js';
import { isForNobody } from '../../model/audience.js';
import { findSegmentName } from '../../model/describe.js';
import { changesBetween } from '../../model/flag-changes.js';
import { ExplainedAnswer } from '../../parts/control/answer.js';
import { Button, Link } from '../../parts/control/controls.js';
import { Icon } from '../../parts/control/icons.js';
import { FlagSwitch } from '../../parts/flag/switch.js';
import { DraftAnswer } from '../../parts/preview/draft-answer.js';
import { RequestList } from '../../parts/request/request-list.js';
import { draftOf } from '../../state/drafts.js';
import { isProduction, may, offers, session } from '../../state/session.js';
import { useExplanations, viewAs } from '../../state/view-as.js';
import { Strategies } from './strategy-summary.js';

interface EnvironmentFrameProps {
  readonly detail: FlagDetail;
  readonly environment: FlagEnvironment;
  /** Whether somebody gets the flag. */
  readonly isOn: boolean;
  /** What it means to have no strategies. */
  readonly empty: string;
  readonly control: ComponentChildren;
  /** What follows the name, also while the card is folded. */
  readonly head?: ComponentChildren;
  readonly actions?: ComponentChildren;
  /** What is shown above the strategies, also while the card is folded. */
  readonly children?: ComponentChildren;
  /** Whether rollouts of the strategies can be started and moved. */
  readonly isCurrent?: boolean;
}

/** With more environments than these, their cards fold. */
const MOST_OPEN = 3;

/** The card of an environment. Of many, only that of production is open at first. Without strategies it is one line. */
export function EnvironmentFrame({
  detail,
  environment,
  isOn,
  empty,
  control,
  head,
  actions,
  children,
  isCurrent = false,
}: EnvironmentFrameProps) {
  const { name, strategies } = environment;
  const isFoldable = strategies.length > 0 && detail.environments.length > MOST_OPEN;
  const [isOpen, setOpen] = useState(isProduction(name));
  const isFolded = isFoldable && !isOpen;
  return (
    <section class={isOn ? 'card environment-card on' : 'card environment-card'} aria-label={name}>
      <header class="card-head">
        {control}
        <h2>
          {isFoldable ? (
            <Button
              class="link fold"
              expanded={isOpen}
              action={`${isOpen ? 'Fold' : 'Unfold'} ${name}`}
              onClick={() => setOpen(!isOpen)}
            >
              <Icon name={isOpen ? 'fold' : 'unfold'} /> {name}
            </Button>
          ) : (
            name
          )}
        </h2>
        {isFolded && <span class="muted">{describeAudience(audienceIn(environment), findSegmentName)}</span>}
        {strategies.length === 0 && <span class="muted">No strategies: {empty}</span>}
        {isFolded && strategies.some(({ rollout }) => rollout) && <span class="tag">rolls out</span>}
        {head}
        {actions && <span class="actions">{actions}</span>}
      </header>
      {children}
      {strategies.length > 0 && !isFolded && (
        <Strategies strategies={strategies} flag={isCurrent ? detail : undefined} environment={environment} />
      )}
    </section>
  );
}

function audienceIn({ strategies }: FlagEnvironment) {
  return audienceOf(strategies, ownStrategiesOf(session.value?.strategies) ?? []);
}

/** Whether a flag that is on in an environment is on for somebody. */
export function hasAudience(environment: FlagEnvironment): boolean {
  return !isForNobody(audienceIn(environment));
}

interface EnvironmentCardProps {
  readonly detail: FlagDetail;
  readonly revision: number;
  readonly environment: FlagEnvironment;
  /** The open requests that the card shows. */
  readonly requests: readonly ListedChangeRequest[];
}

export function EnvironmentCard({ detail, revision, environment, requests }: EnvironmentCardProps) {
  const { name: flag, project } = detail;
  const { name, enabled, strategies } = environment;
  const offBecauseOf = useBlocker(detail, name);
  const audience = audienceIn(environment);
  const draft = draftOf(flag);
  const canEdit = may('configureEnvironment', project) || may('updateStrategy', project);
  return (
    <EnvironmentFrame
      detail={detail}
      environment={environment}
      isCurrent
      empty={enabled ? 'everybody gets it' : 'enabling adds a rollout of 100 %'}
      isOn={enabled && offBecauseOf === null && hasAudience(environment)}
      control={
        <FlagSwitch
          project={project}
          flag={flag}
          revision={revision}
          environment={{ name, enabled, strategyCount: strategies.length, offBecauseOf, audience }}
        />
      }
      head={
        <>
          {enabled && offBecauseOf !== null && (
            <span>
              Off because of <Link to={['projects', project, 'flags', offBecauseOf]}>{offBecauseOf}</Link>
            </span>
          )}
          <WhyLine project={project} flag={flag} environment={name} />
        </>
      }
      actions={
        <>
          {offers('explainFlags', project) && (
            <Link class="why-link" to={['why']} query={{ flag, env: name }} label={`Explain ${flag} in ${name}`}>
              Explain
            </Link>
          )}
          <Link
            class="button"
            to={['projects', project, 'flags', flag, name]}
            label={`Edit ${name}`}
            isDisabled={!canEdit}
          >
            <Icon name="edit" /> Edit
          </Link>
        </>
      }
    >
      {requests.length > 0 && <RequestList requests={requests} label={`Requests for ${name}`} />}
      {draft && (
        <DraftAnswer
          flag={flag}
          environment={name}
          changes={changesBetween(draft.base, draft.mine, draft.revision).filter(
            ({ ref }) => ref?.environment === name,
          )}
        />
      )}
    </EnvironmentFrame>
  );
}

/** Returns the parent that turns a flag off in an environment, from the list of flags; null if there is none. */
function useBlocker({ name, project, dependencies = [], archived }: FlagDetail, environment: string): string | null {
  const isAsked = dependencies.length > 0 && !archived;
  const request = { query: { project, namePrefix: name, limit: 1 } };
  const { data } = useResource('listAllFlags', isAsked ? request : undefined);
  return data?.features[0]?.environments.find((one) => one.name === environment)?.offBecauseOf ?? null;
}

interface WhyLineProps {
  readonly project: string;
  readonly flag: string;
  readonly environment: string;
}

/** Whether the flag is on for the chosen context, and why. */
function WhyLine({ project, flag, environment }: WhyLineProps) {
  const explained = useExplanations(project, environment)?.get(flag);
  if (viewAs.value === undefined) return null;
  return <ExplainedAnswer explained={explained} name={viewAs.value.userId ?? 'this context'} />;
}
