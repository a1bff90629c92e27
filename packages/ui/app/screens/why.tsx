import { useEffect, useState } from 'preact/hooks';
import { useResource } from '../api/resource.js';
import type { Context, Explained, Segment } from '../api/types.js';
import { Explanation } from '../parts/explanation.js';
import { Field } from '../parts/field.js';
import { Heading } from '../parts/heading.js';
import { Fault, Loading } from '../parts/states.js';
import { isTime, TimeInput, ZONE_HINT } from '../parts/time-field.js';
import { currentProject, href, query, setQuery } from '../router.js';
import { useProjectNames } from '../state/projects.js';
import { useSegments } from '../state/segments.js';
import { environments } from '../state/session.js';
import {
  contextFromText,
  contextToText,
  describeContext,
  drawnContext,
  fieldsOf,
  viewAs,
  viewIn,
} from '../state/view-as.js';
import { answer, number, plural, time, why } from '../words.js';

/** The query value for all environments. */
const ALL = 'all';

/** Why flags are on or off: for any context, one flag or all, in one environment or each. */
export function WhyScreen() {
  const environment = query.value.get('env') ?? viewIn.value;
  const names = environments.value.map(({ name }) => name);
  const chosen = environment === ALL ? names : [environment];
  const flag = query.value.get('flag') ?? undefined;
  const asOf = query.value.get('asOf') ?? undefined;
  const { context, drawn } = drawnContext(viewAs.value ?? {});
  const segments = useSegments();
  return (
    <section>
      <div class="screen-head">
        <Heading title="Playground" />
        <span class="muted">Why a flag is on or off for somebody</span>
      </div>
      <Questions context={viewAs.value} />
      {drawn && (
        <p class="notice">
          Without a user ID, gradual rollouts draw at random. This page has drawn once: it asks as session {drawn}.
        </p>
      )}
      {chosen.map((name) => (
        <section key={name} class="card" aria-labelledby={`why-${name}`}>
          <header class="card-head">
            <h2 id={`why-${name}`}>{name}</h2>
            <span class="muted">
              {viewAs.value ? describeContext(viewAs.value) : 'for a context without any fields'}
              {asOf !== undefined && ` as of ${isTime(asOf) ? time(asOf) : asOf}`}
            </span>
          </header>
          <Results flag={flag} environment={name} context={context} asOf={asOf} segments={segments} />
        </section>
      ))}
    </section>
  );
}

/** One field per line, without the user. */
function otherFields(context: Context = {}): string {
  const fields = fieldsOf(context).filter(([name]) => name !== 'userId');
  return fields.map(([name, value]) => `${name}=${value}`).join('\n');
}

function Questions({ context }: { readonly context: Context | undefined }) {
  const [userId, setUserId] = useState('');
  const [others, setOthers] = useState('');
  useEffect(() => {
    setUserId(context?.userId ?? '');
    setOthers(otherFields(context));
  }, [JSON.stringify(context)]);
  const [fault, setFault] = useState<string>();
  const explain = (event: Event) => {
    event.preventDefault();
    const lines = others.split('\n').filter((line) => line.trim() !== '');
    const broken = lines.find((line) => !/^\s*[^=\s][^=]*=/.test(line));
    setFault(broken && `“${broken.trim().slice(0, 60)}” is not a field: write name=value.`);
    if (broken !== undefined) return;
    const text = new URLSearchParams({ userId });
    for (const line of lines) {
      const [name = '', ...value] = line.split('=');
      text.set(name.trim(), value.join('=').trim());
    }
    const next = contextFromText(text.toString());
    setQuery({ as: next && contextToText(next) });
  };
  return (
    <form class="card questions" onSubmit={explain}>
      <div class="columns">
        <Field label="User ID">
          {(ids) => (
            <input
              {...ids}
              autocomplete="off"
              value={userId}
              onInput={({ currentTarget }) => setUserId(currentTarget.value)}
            />
          )}
        </Field>
        <FlagField />
        <Field label="Environment">
          {(ids) => (
            <select
              {...ids}
              value={query.value.get('env') ?? viewIn.value}
              onChange={({ currentTarget }) => setQuery({ env: currentTarget.value })}
            >
              <option value={ALL}>All environments</option>
              {environments.value.map(({ name }) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          )}
        </Field>
        <TimeField />
      </div>
      <Field
        label="Other fields"
        hint="One per line: country=DE, sessionId=…, remoteAddress=…, currentTime=2026-01-01T00:00:00Z"
        fault={fault}
      >
        {(ids) => (
          <textarea
            {...ids}
            rows={3}
            spellcheck={false}
            value={others}
            onInput={({ currentTarget }) => setOthers(currentTarget.value)}
          />
        )}
      </Field>
      <button type="submit" class="primary">
        Explain
      </button>
    </form>
  );
}

/** The name of a flag takes effect on change, not while typing: the API would refuse an incomplete name. */
function FlagField() {
  const chosen = query.value.get('flag') ?? '';
  const [flag, setFlag] = useState(chosen);
  const projectName = useProjectNames();
  useEffect(() => setFlag(chosen), [chosen]);
  return (
    <Field label="Flag" hint={`Empty: all flags of the project ${projectName(currentProject())}`}>
      {(ids) => (
        <input
          {...ids}
          autocomplete="off"
          spellcheck={false}
          value={flag}
          onInput={({ currentTarget }) => setFlag(currentTarget.value)}
          onChange={({ currentTarget }) => setQuery({ flag: currentTarget.value.trim() })}
        />
      )}
    </Field>
  );
}

/** Explains evaluations at an earlier time. */
function TimeField() {
  const asOf = query.value.get('asOf') ?? '';
  return (
    <Field label="As of" hint={`Empty: now. ${ZONE_HINT}`}>
      {(ids) => <TimeInput {...ids} value={asOf} onChange={(value) => setQuery({ asOf: value })} />}
    </Field>
  );
}

interface ResultsProps {
  readonly flag: string | undefined;
  readonly environment: string;
  readonly context: Context;
  /** ISO 8601; undefined for now. */
  readonly asOf: string | undefined;
  readonly segments: readonly Segment[];
  /** The first flag of the next part of the reply. */
  readonly from?: string;
}

const PAGE = 50;

function Results({ flag, environment, context, asOf, segments, from }: ResultsProps) {
  const [shown, setShown] = useState(PAGE);
  const [hasMore, setMore] = useState(false);
  const scope = flag === undefined ? { project: currentProject(), ...(from && { from }) } : { flag };
  const { data, error } = useResource('explainFlags', {
    body: { environment, context, ...(asOf !== undefined && { asOf }), ...scope },
  });
  if (error) return <Fault error={error} />;
  if (!data) return <Loading rows={3} />;
  const { features, next } = data;
  const on = features.filter(({ enabled }) => enabled).length;
  return (
    <>
      {flag === undefined && (
        <p class="count">
          {plural(features.length, 'flag')}, {number(on)} on
        </p>
      )}
      {flag !== undefined && features.length === 0 && (
        <p class="muted">At this time, the flag did not exist yet, or it was archived.</p>
      )}
      <ul class="explained">
        {features.slice(0, shown).map((explained) => (
          <Row
            key={explained.name}
            explained={explained}
            environment={environment}
            segments={segments}
            isOpen={flag !== undefined}
          />
        ))}
      </ul>
      {features.length > shown && (
        <button type="button" onClick={() => setShown(shown + PAGE)}>
          Show more
        </button>
      )}
      {features.length <= shown && next !== undefined && !hasMore && (
        <button type="button" onClick={() => setMore(true)}>
          Show more
        </button>
      )}
      {hasMore && next !== undefined && (
        <Results flag={flag} environment={environment} context={context} asOf={asOf} segments={segments} from={next} />
      )}
    </>
  );
}

interface RowProps {
  readonly explained: Explained;
  readonly environment: string;
  readonly segments: readonly Segment[];
  readonly isOpen: boolean;
}

function Row({ explained, environment, segments, isOpen: isOpenFirst }: RowProps) {
  const [isOpen, setOpen] = useState(isOpenFirst);
  const { name, project, enabled } = explained;
  return (
    <li>
      <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <strong>{name}</strong>
          <span class={enabled ? 'answer on' : 'answer off'}>
            {answer(explained)} <small>{why(explained)}</small>
          </span>
        </summary>
        {isOpen && (
          <>
            <Explanation explained={explained} environment={environment} segments={segments} />
            <p class="explained-link">
              <a href={href(['projects', project, 'flags', name])}>Open the flag</a>
            </p>
          </>
        )}
      </details>
    </li>
  );
}
