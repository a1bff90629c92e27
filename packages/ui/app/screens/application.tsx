import { useEffect, useState } from 'preact/hooks';
import { call } from '../api/call.js';
import { invalidate, useResource } from '../api/resource.js';
import type { Application, ApplicationDetail } from '../api/types.js';
import { strategyName } from '../model/describe.js';
import { AllowedButton } from '../parts/allowed-button.js';
import { createFlagNamed } from '../parts/create-flag.js';
import { Confirm } from '../parts/dialog.js';
import { Heading } from '../parts/heading.js';
import { Icon } from '../parts/icons.js';
import { ScreenFrame } from '../parts/screen.js';
import { currentProject, href, navigate } from '../router.js';
import { showToast } from '../state/toasts.js';
import { ago, number, plural, time } from '../words.js';

/** One application: its instances, its strategies, and the flags that it evaluates. */
export function ApplicationScreen({ name }: { readonly name: string }) {
  const reply = useResource('getApplication', { params: { application: name } });
  const described = useResource('listApplicationsByFlag', {}).data;
  const own = Object.values(described ?? {})
    .flat()
    .find(({ appName }) => appName === name);
  return (
    <ScreenFrame
      back={{ to: ['applications'], label: 'Applications' }}
      reply={reply}
      missing={() => <Heading title={name} />}
    >
      {(detail) => <Detail detail={detail} own={own} />}
    </ScreenFrame>
  );
}

interface DetailProps {
  readonly detail: ApplicationDetail;
  /** The details that the application reports. */
  readonly own: Application | undefined;
}

function Detail({ detail, own }: DetailProps) {
  const { appName, instances, seenToggles, droppedNames } = detail;
  const strategies = detail.strategies.flatMap((row) => row.strategies);
  const color = safeColor(own?.color);
  const link = safeLink(own?.url);
  return (
    <>
      <header class="flag-head">
        <div class="screen-head">
          {color && <span class="swatch" style={{ backgroundColor: color }} />}
          <Heading title={appName} />
          {link && (
            <a href={link} target="_blank" rel="noreferrer noopener" class="external">
              {new URL(link).host} <Icon name="external" />
              <span class="hidden">(opens a new tab)</span>
            </a>
          )}
          <span class="stretch" />
          <ForgetButton name={appName} />
        </div>
        {own?.description && <p class="description">{own.description}</p>}
        <p class="chips">
          {strategies.map((strategy) => (
            <span key={strategy} class="tag">
              {strategyName(strategy)}
            </span>
          ))}
        </p>
      </header>
      <section class="card" aria-labelledby="app-flags">
        <header class="card-head">
          <h2 id="app-flags">Flags</h2>
          <span class="muted">{plural(seenToggles.length, 'flag')} evaluated</span>
        </header>
        <Flags names={seenToggles} />
        {droppedNames > 0 && (
          <p class="muted">
            Reports named {number(droppedNames)} further unknown {droppedNames === 1 ? 'flag' : 'flags'}, which are not
            kept.
          </p>
        )}
      </section>
      <Instances instances={instances} />
    </>
  );
}

const SHOWN = 200;

/** The page size of the flag list. */
const PAGE = 1_000;

/** Returns the names of flags, also archived ones. Undefined until all lists are read, or after an error. */
function useKnownFlags(names: readonly string[]): ReadonlySet<string> | undefined {
  const [known, setKnown] = useState<ReadonlySet<string>>();
  useEffect(() => {
    const running = new AbortController();
    readKnown(names, running.signal).then(setKnown, () => setKnown(undefined));
    return () => running.abort();
  }, [names.join()]);
  return known;
}

/** Reads the lists until every name is found. */
async function readKnown(names: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>> {
  const known = new Set<string>();
  for (const archived of [false, true]) {
    let after: string | null | undefined;
    do {
      if (names.every((name) => known.has(name))) return known;
      const query = { archived, limit: PAGE, ...(after && { after }) };
      const { data, next } = await call('listAllFlags', { query, signal });
      for (const { name } of data.features) known.add(name);
      after = next?.get('after');
    } while (after);
  }
  return known;
}

function Flags({ names }: { readonly names: readonly string[] }) {
  const known = useKnownFlags(names);
  const unknown = known ? names.filter((name) => !known.has(name)) : [];
  const rest = names.filter((name) => !unknown.includes(name));
  if (names.length === 0) return <p class="muted">It has not evaluated any flag yet.</p>;
  return (
    <>
      <p class="chips">
        {rest.slice(0, SHOWN).map((name) => (
          <a key={name} class="tag" href={href(['flags', name])}>
            {name}
          </a>
        ))}
        {rest.length > SHOWN && <span class="muted">and {number(rest.length - SHOWN)} more</span>}
      </p>
      {unknown.length > 0 && (
        <ul class="rows" aria-label="Unknown flags">
          {unknown.slice(0, SHOWN).map((name) => (
            <li key={name}>
              <span>
                <b>{name}</b> <span class="tag warning">unknown flag</span>
              </span>
              <AllowedButton
                needs={['createFlag', 'applyChanges']}
                project={currentProject()}
                label={`Create it: ${name}`}
                onClick={() => createFlagNamed(currentProject(), name)}
              >
                Create it
              </AllowedButton>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function Instances({ instances }: Pick<ApplicationDetail, 'instances'>) {
  const [shown, setShown] = useState(SHOWN);
  const newest = instances.toSorted((one, other) => other.lastSeen.localeCompare(one.lastSeen));
  return (
    <section class="card" aria-labelledby="instances">
      <header class="card-head">
        <h2 id="instances">Instances</h2>
        <span class="muted">{plural(instances.length, 'instance')}</span>
      </header>
      {instances.length > 0 && (
        <table class="plain stacked">
          <thead>
            <tr>
              <th scope="col">Instance</th>
              <th scope="col">Address</th>
              <th scope="col">First seen</th>
              <th scope="col">Last seen</th>
            </tr>
          </thead>
          <tbody>
            {newest.slice(0, shown).map(({ instanceId, clientIp, createdAt, lastSeen }) => (
              <tr key={instanceId}>
                <th scope="row">{instanceId}</th>
                <td data-label="Address">{clientIp || <span class="muted">unknown</span>}</td>
                <td data-label="First seen" title={time(createdAt)}>
                  {ago(createdAt)}
                </td>
                <td data-label="Last seen" title={time(lastSeen)}>
                  {ago(lastSeen)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {instances.length > shown && (
        <button type="button" onClick={() => setShown(shown + SHOWN)}>
          Show more
        </button>
      )}
    </section>
  );
}

function ForgetButton({ name }: { readonly name: string }) {
  const [isAsking, setAsking] = useState(false);
  const forget = async () => {
    // Leaves the screen first, because a forgotten application cannot be read again.
    navigate(href(['applications']));
    try {
      await call('deleteApplication', { params: { application: name } });
      showToast({ tone: 'done', text: `The application ${name} was forgotten.` });
    } catch (error) {
      showToast({ tone: 'fault', text: (error as Error).message });
    }
    invalidate('listApplications', 'listApplicationsByFlag');
  };
  return (
    <>
      <AllowedButton needs={['deleteApplication']} project={currentProject()} onClick={() => setAsking(true)}>
        Forget…
      </AllowedButton>
      {isAsking && (
        <Confirm
          title={`Forget ${name}?`}
          text="Its instances and the list of its flags are removed. An application that runs reports again, and starts over."
          confirm={`Confirm: forget ${name}`}
          onConfirm={forget}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}

/** A public token can set this value, so only `#` and hex digits become a color. */
function safeColor(color: string | null | undefined): string | undefined {
  return color && /^#(?:[\da-f]{3,4}|[\da-f]{6}|[\da-f]{8})$/i.test(color) ? color : undefined;
}

/** A public token can set this value, so only web addresses become links. */
function safeLink(url: string | undefined): string | undefined {
  if (!url || !/^https?:\/\//i.test(url)) return undefined;
  return URL.canParse(url) ? new URL(url).href : undefined;
}
