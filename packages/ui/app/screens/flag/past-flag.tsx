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
import { Strategies } from './strategy-summary.js';

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
  return (
    <>
      {description && <p class="description">{description}</p>}
      <div class="environments">
        {environments.map(({ name, enabled, strategies }) => (
          <section key={name} class={enabled ? 'card environment-card on' : 'card environment-card'} aria-label={name}>
            <header class="card-head">
              <AnswerText isOn={enabled}>{enabled ? 'on' : 'off'}</AnswerText>
              <h2>{name}</h2>
            </header>
            <Strategies strategies={strategies} empty="No strategies." />
          </section>
        ))}
      </div>
      <Card title="Variants and dependencies">
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
          {!variants?.length && dependencies.length === 0 && <li class="muted">None.</li>}
        </ul>
      </Card>
    </>
  );
}
