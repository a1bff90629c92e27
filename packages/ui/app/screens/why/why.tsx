import { useEffect, useState } from 'preact/hooks';
import { useResource } from '../../api/resource.js';
import type { Context, ExplainedFlag } from '../../api/types.js';
import { AnswerText } from '../../parts/control/answer.js';
import { Button, Link, Paged, sameText } from '../../parts/control/controls.js';
import { draftOfContext, useContextForm } from '../../parts/form/context-form.js';
import { Field, SelectField } from '../../parts/form/field.js';
import { isTime, TimeInput, ZONE_HINT } from '../../parts/form/time-field.js';
import { Card, ScreenHead, WhenLoaded } from '../../parts/frame/screen.js';
import { currentProject, query, setQuery } from '../../router.js';
import { projectName } from '../../state/projects.js';
import { environmentNames } from '../../state/session.js';
import { contextToText, describeContext, drawnContext, viewAs, viewIn } from '../../state/view-as.js';
import { answer, number, plural, time, why } from '../../words.js';
import { Explanation } from './explanation.js';

/** The query value for all environments. */
const ALL = 'all';

/** Why flags are on or off: for any context, one flag or all, in one environment or each. */
export function WhyScreen() {
  const environment = query.value.get('env') ?? viewIn.value;
  const chosen = environment === ALL ? environmentNames.value : [environment];
  const flag = query.value.get('flag') ?? undefined;
  const asOf = query.value.get('asOf') ?? undefined;
  const { context, drawn } = drawnContext(viewAs.value ?? {});
  const who = viewAs.value ? describeContext(viewAs.value) : 'for a context without any fields';
  const when = asOf === undefined ? '' : ` as of ${isTime(asOf) ? time(asOf) : asOf}`;
  return (
    <section>
      <ScreenHead title="Playground">
        <span class="muted">Why a flag is on or off for somebody</span>
      </ScreenHead>
      <Questions context={viewAs.value} />
      {drawn && (
        <p class="notice">
          Without a user ID, gradual rollouts draw at random. This page has drawn once: it asks as session {drawn}.
        </p>
      )}
      {chosen.map((name) => (
        <Card key={name} title={name} note={`${who}${when}`}>
          <Results flag={flag} environment={name} context={context} asOf={asOf} />
        </Card>
      ))}
    </section>
  );
}

function Questions({ context }: { readonly context: Context | undefined }) {
  const { setDraft, submit, userField, otherFields } = useContextForm(context);
  useEffect(() => setDraft(draftOfContext(context)), [JSON.stringify(context)]);
  const explain = (event: Event) => {
    event.preventDefault();
    submit((next) => setQuery({ as: next && contextToText(next) }));
  };
  return (
    <form class="card questions" onSubmit={explain}>
      <div class="columns">
        {userField}
        <FlagField />
        <SelectField
          label="Environment"
          value={query.value.get('env') ?? viewIn.value}
          options={[[ALL, 'All environments'], ...sameText(environmentNames.value)]}
          onChange={(env) => setQuery({ env })}
        />
        <TimeField />
      </div>
      {otherFields}
      <Button type="submit" class="primary">
        Explain
      </Button>
    </form>
  );
}

/** The name of a flag takes effect on change, not while typing: the API would refuse an incomplete name. */
function FlagField() {
  const chosen = query.value.get('flag') ?? '';
  const [flag, setFlag] = useState(chosen);
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
  /** The first flag of the next part of the reply. */
  readonly from?: string;
}

const PAGE = 50;

function Results(props: ResultsProps) {
  const { flag, environment, context, asOf, from } = props;
  const [hasMore, setMore] = useState(false);
  const scope = flag === undefined ? { project: currentProject(), ...(from && { from }) } : { flag };
  const reply = useResource('explainFlags', {
    body: { environment, context, ...(asOf !== undefined && { asOf }), ...scope },
  });
  return (
    <WhenLoaded reply={reply} rows={3}>
      {({ features, next }) => (
        <>
          {flag === undefined && (
            <p class="count">
              {plural(features.length, 'flag')}, {number(features.filter(({ enabled }) => enabled).length)} on
            </p>
          )}
          {flag !== undefined && features.length === 0 && (
            <p class="muted">At this time, the flag did not exist yet, or it was archived.</p>
          )}
          <Paged items={features} page={PAGE}>
            {(shown) => (
              <>
                <ul class="explained">
                  {shown.map((explained) => (
                    <Row
                      key={explained.name}
                      explained={explained}
                      environment={environment}
                      asOf={asOf}
                      isOpen={flag !== undefined}
                    />
                  ))}
                </ul>
                {shown.length === features.length && next !== undefined && !hasMore && (
                  <Button onClick={() => setMore(true)}>Show more</Button>
                )}
              </>
            )}
          </Paged>
          {hasMore && next !== undefined && <Results {...props} from={next} />}
        </>
      )}
    </WhenLoaded>
  );
}

interface RowProps {
  readonly explained: ExplainedFlag;
  readonly environment: string;
  readonly asOf: string | undefined;
  readonly isOpen: boolean;
}

function Row({ explained, environment, asOf, isOpen: isOpenFirst }: RowProps) {
  const [isOpen, setOpen] = useState(isOpenFirst);
  const { name, project, enabled } = explained;
  return (
    <li>
      <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <strong>{name}</strong>
          <AnswerText isOn={enabled}>
            {answer(explained)} <small>{why(explained)}</small>
          </AnswerText>
        </summary>
        {isOpen && (
          <>
            <Explanation explained={explained} environment={environment} asOf={asOf} />
            <p class="explained-link">
              <Link to={['projects', project, 'flags', name]}>Open the flag</Link>
            </p>
          </>
        )}
      </details>
    </li>
  );
}
