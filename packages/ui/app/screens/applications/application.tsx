import { strategyName } from '@flags/core/admin';
import { call } from '../../api/call.js';
import { invalidate, useResource } from '../../api/resource.js';
import type { Application, ApplicationDetail } from '../../api/types.js';
import { Ago } from '../../parts/control/answer.js';
import { Button, DialogButton, Link, Paged } from '../../parts/control/controls.js';
import { Icon } from '../../parts/control/icons.js';
import { createFlagNamed } from '../../parts/flag/create-flag.js';
import { Confirm } from '../../parts/form/dialog.js';
import { Heading } from '../../parts/frame/heading.js';
import { Card, ScreenFrame, ScreenHead } from '../../parts/frame/screen.js';
import { Table } from '../../parts/list/table.js';
import { currentProject, href, navigate } from '../../router.js';
import { useFlagList } from '../../state/listed-flags.js';
import { attempt } from '../../state/toasts.js';
import { number, plural } from '../../words.js';

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
        <ScreenHead title={appName} actions={<ForgetButton name={appName} />}>
          {color && <span class="swatch" style={{ backgroundColor: color }} />}
          {link && (
            <a href={link} target="_blank" rel="noreferrer noopener" class="external">
              {new URL(link).host} <Icon name="external" />
              <span class="hidden">(opens a new tab)</span>
            </a>
          )}
        </ScreenHead>
        {own?.description && <p class="description">{own.description}</p>}
        <p class="chips">
          {strategies.map((strategy) => (
            <span key={strategy} class="tag">
              {strategyName(strategy)}
            </span>
          ))}
        </p>
      </header>
      <Card title="Flags" note={`${plural(seenToggles.length, 'flag')} evaluated`}>
        <Flags names={seenToggles} />
        {droppedNames > 0 && (
          <p class="muted">
            Reports named {number(droppedNames)} further unknown {droppedNames === 1 ? 'flag' : 'flags'}, which are not
            kept.
          </p>
        )}
      </Card>
      <Instances instances={instances} />
    </>
  );
}

const SHOWN = 200;

/** Returns the names that no flag has, live or archived. Empty until the lists are read. */
function useUnknown(names: readonly string[]): readonly string[] {
  const live = useMissing(names, false);
  return useMissing(live, true);
}

function useMissing(names: readonly string[], archived: boolean): readonly string[] {
  const { data } = useFlagList('', archived, names.length > 0);
  if (!data?.isComplete) return [];
  const known = new Set(data.flags.map(({ name }) => name));
  return names.filter((name) => !known.has(name));
}

function Flags({ names }: { readonly names: readonly string[] }) {
  const unknown = useUnknown(names);
  const rest = names.filter((name) => !unknown.includes(name));
  if (names.length === 0) return null;
  return (
    <>
      <p class="chips">
        {rest.slice(0, SHOWN).map((name) => (
          <Link key={name} class="tag" to={['flags', name]}>
            {name}
          </Link>
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
              <Button
                needs={['createFlag', 'applyChanges']}
                project={currentProject()}
                label={`Create it: ${name}`}
                onClick={() => createFlagNamed(currentProject(), name)}
              >
                Create it
              </Button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function Instances({ instances }: Pick<ApplicationDetail, 'instances'>) {
  const newest = instances.toSorted((one, other) => other.lastSeen.localeCompare(one.lastSeen));
  return (
    <Card title="Instances" note={plural(instances.length, 'instance')}>
      {instances.length > 0 && (
        <Paged items={newest} page={SHOWN}>
          {(shown) => (
            <Table
              class="plain stacked"
              items={shown}
              keyOf={({ instanceId }) => instanceId}
              columns={[
                { title: 'Instance', cell: ({ instanceId }) => instanceId },
                {
                  title: 'Address',
                  isNamed: true,
                  cell: ({ clientIp }) => clientIp || <span class="muted">unknown</span>,
                },
                { title: 'First seen', isNamed: true, cell: ({ createdAt }) => <Ago at={createdAt} /> },
                { title: 'Last seen', isNamed: true, cell: ({ lastSeen }) => <Ago at={lastSeen} /> },
              ]}
            />
          )}
        </Paged>
      )}
    </Card>
  );
}

function ForgetButton({ name }: { readonly name: string }) {
  const forget = async () => {
    // Leaves the screen first, because a forgotten application cannot be read again.
    navigate(href(['applications']));
    await attempt(
      () => call('deleteApplication', { params: { application: name } }),
      `The application ${name} was forgotten.`,
    );
    invalidate('listApplications', 'listApplicationsByFlag');
  };
  return (
    <DialogButton
      needs={['deleteApplication']}
      project={currentProject()}
      dialog={(close) => (
        <Confirm
          title={`Forget ${name}?`}
          text="Its instances and the list of its flags are removed. An application that still runs appears again with its next report."
          confirm={`Confirm: forget ${name}`}
          onConfirm={forget}
          onClose={close}
        />
      )}
    >
      Forget…
    </DialogButton>
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
