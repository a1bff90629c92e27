import { describeVariant } from '@flags/core/admin';
import { useState } from 'preact/hooks';
import { useResource } from '../../api/resource.js';
import type { FlagDetail } from '../../api/types.js';
import { AnswerText } from '../../parts/control/answer.js';
import { Button, Link } from '../../parts/control/controls.js';
import { isTime, TimeInput, ZONE } from '../../parts/form/time-field.js';
import { Card, Crumbs, ScreenHead, WhenLoaded } from '../../parts/frame/screen.js';
import { setQuery } from '../../router.js';
import { flagType, time } from '../../words.js';
import { EnvironmentFrame, hasAudience } from './environment-card.js';

/** Picks a time in the past. */
export function AsOfPicker() {
  const [text, setText] = useState('');
  const show = (event: Event) => {
    event.preventDefault();
    if (text !== '') setQuery({ asOf: text });
  };
  return (
    <form class="as-of" onSubmit={show}>
      <label for="as-of">
        As of <small>({ZONE})</small>
      </label>
      <TimeInput id="as-of" value={text} onChange={setText} />
      <Button type="submit" action="Show the flag as of this time">
        Show
      </Button>
    </form>
  );
}

interface PastFlagProps {
  readonly project: string;
  readonly flag: string;
  /** ISO 8601. */
  readonly asOf: string;
}

/** A past state of a flag, read-only. */
export function PastFlag({ project, flag, asOf }: PastFlagProps) {
  const reply = useResource('getFlag', { params: { project, flag }, query: { asOf } });
  const { data } = reply;
  const at = isTime(asOf) ? time(asOf) : asOf;
  return (
    <section>
      <Crumbs to={['projects', project, 'flags', flag]} label={`${flag} now`} />
      <ScreenHead title={`${flag} as of ${at}`} text={flag} actions={<AsOfPicker />}>
        {data && <span class="tag">{flagType(data.type)}</span>}
        {data?.stale && <span class="tag warning">stale</span>}
        {data?.archived && <span class="tag warning">archived</span>}
      </ScreenHead>
      <p class="notice">
        This is the flag as of {at}. It cannot be changed here.{' '}
        <Link to={['projects', project, 'flags', flag]} action="Show it as it is now">
          Show it as it is now
        </Link>
      </p>
      <WhenLoaded reply={reply}>{(detail) => <PastState detail={detail} />}</WhenLoaded>
    </section>
  );
}

function PastState({ detail }: { readonly detail: FlagDetail }) {
  const { description, environments, variants, dependencies = [] } = detail;
  const isEmpty = !variants?.length && dependencies.length === 0;
  return (
    <>
      {description && <p class="description">{description}</p>}
      <div class="environments">
        {environments.map((environment) => {
          const isOn = environment.enabled && hasAudience(environment);
          return (
            <EnvironmentFrame
              key={environment.name}
              detail={detail}
              environment={environment}
              isOn={isOn}
              empty={environment.enabled ? 'everybody got it' : 'nobody got it'}
              control={<AnswerText isOn={isOn}>{environment.enabled ? 'on' : 'off'}</AnswerText>}
            />
          );
        })}
      </div>
      <Card title="Variants and dependencies" note={isEmpty && 'None'}>
        {!isEmpty && (
          <ul class="rules">
            {(variants ?? []).map((variant) => (
              <li key={variant.name}>
                variant <b>{variant.name}</b> {describeVariant(variant)}
              </li>
            ))}
            {dependencies.map(({ feature, enabled, variants: needed }) => (
              <li key={feature}>
                depends on <b>{feature}</b> being {enabled ? ['on', ...needed].join(', ') : 'off'}
              </li>
            ))}
          </ul>
        )}
      </Card>
    </>
  );
}
