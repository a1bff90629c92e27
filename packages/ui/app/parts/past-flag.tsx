import { useState } from 'preact/hooks';
import { useResource } from '../api/resource.js';
import { describeVariant } from '../model/differences.js';
import { href, setQuery } from '../router.js';
import { useSegments } from '../state/segments.js';
import { flagType, time } from '../words.js';
import { Heading } from './heading.js';
import { Crumbs } from './screen.js';
import { Fault, Loading } from './states.js';
import { StrategySummary } from './strategy-summary.js';
import { isTime, TimeInput, ZONE } from './time-field.js';

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
      <button type="submit">Show</button>
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
  const { data, error } = useResource('getFlag', { params: { project, flag }, query: { asOf } });
  const segments = useSegments();
  const at = isTime(asOf) ? time(asOf) : asOf;
  return (
    <section>
      <Crumbs to={['projects', project, 'flags', flag]} label={`${flag} now`} />
      <div class="screen-head">
        <Heading title={`${flag} as of ${at}`}>{flag}</Heading>
        {data && <span class="tag">{flagType(data.type)}</span>}
        {data?.stale && <span class="tag warning">stale</span>}
        {data?.archived && <span class="tag warning">archived</span>}
        <span class="stretch" />
        <AsOfPicker />
      </div>
      <p class="notice">
        This is the flag as of {at}. It cannot be changed here.{' '}
        <a href={href(['projects', project, 'flags', flag])}>Show it as it is now</a>
      </p>
      {error && <Fault error={error} />}
      {!data && !error && <Loading />}
      {data?.description && <p class="description">{data.description}</p>}
      <div class="environments">
        {data?.environments.map(({ name, enabled, strategies }) => (
          <section key={name} class={enabled ? 'card environment-card on' : 'card environment-card'} aria-label={name}>
            <header class="card-head">
              <span class={enabled ? 'answer on' : 'answer off'}>{enabled ? 'on' : 'off'}</span>
              <h2>{name}</h2>
            </header>
            {strategies.length === 0 && <p class="muted">No strategies.</p>}
            <ol class="strategies">
              {strategies.map((strategy, index) => (
                <StrategySummary key={strategy.id} strategy={strategy} index={index} segments={segments} />
              ))}
            </ol>
          </section>
        ))}
      </div>
      {data && (
        <section class="card" aria-labelledby="past-rest">
          <h2 id="past-rest">Variants and dependencies</h2>
          <ul class="rules">
            {(data.variants ?? []).map((variant) => (
              <li key={variant.name}>
                variant <b>{variant.name}</b> {describeVariant(variant)}
              </li>
            ))}
            {(data.dependencies ?? []).map(({ feature, enabled, variants }) => (
              <li key={feature}>
                depends on <b>{feature}</b> being {enabled ? ['on', ...variants].join(', ') : 'off'}
              </li>
            ))}
            {!data.variants?.length && !data.dependencies?.length && <li class="muted">None.</li>}
          </ul>
        </section>
      )}
    </section>
  );
}
