import { computed } from '@preact/signals';
import { call } from '../api/call.js';
import { type Query, useQuery } from '../api/resource.js';
import type { Context, ExplainedFlag } from '../api/types.js';
import { query, setQuery } from '../router.js';
import { defaultEnvironment } from './session.js';

const STANDARD = ['userId', 'sessionId', 'remoteAddress', 'appName', 'currentTime'] as const;

/** The context of *View as*, from the URL: `?as=userId=7&in=production`. */
export const viewAs = computed<Context | undefined>(() => {
  const text = query.value.get('as');
  return text === null ? undefined : contextFromText(text);
});

/** The environment to evaluate on screens that show several. */
export const viewIn = computed(() => query.value.get('in') ?? defaultEnvironment.value);

export function setViewAs(context: Context | undefined, environment?: string): void {
  setQuery({
    as: context === undefined ? undefined : contextToText(context),
    in: context === undefined || environment === defaultEnvironment.value ? undefined : environment,
  });
}

export function contextFromText(text: string): Context | undefined {
  const fields = [...new URLSearchParams(text)].filter(([name, value]) => name !== '' && value !== '');
  if (fields.length === 0) return undefined;
  const isStandard = ([name]: [string, string]) => (STANDARD as readonly string[]).includes(name);
  const properties = fields.filter((field) => !isStandard(field));
  return {
    ...Object.fromEntries(fields.filter(isStandard)),
    ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
  };
}

export function contextToText(context: Context): string {
  return new URLSearchParams(fieldsOf(context)).toString();
}

/** Returns the fields and properties of a context in one list. */
export function fieldsOf({ properties = {}, ...standard }: Context): [name: string, value: string][] {
  return [...Object.entries(standard), ...Object.entries(properties)].filter(([, value]) => value !== undefined);
}

/** Describes a context briefly: "user 7 · DE". */
export function describeContext(context: Context): string {
  return fieldsOf(context)
    .map(([name, value]) => (name === 'userId' ? `user ${value}` : name === 'sessionId' ? `session ${value}` : value))
    .join(' · ');
}

/** Contexts without an id get a random rollout. This session id makes it the same for the whole page. */
const session = Math.random().toString(36).slice(2, 8);

/** Returns the context to evaluate, and its random session id; undefined if the context has its own id. */
export function drawnContext(context: Context): { readonly context: Context; readonly drawn: string | undefined } {
  const hasId = context.userId !== undefined || context.sessionId !== undefined;
  return hasId ? { context, drawn: undefined } : { context: { ...context, sessionId: session }, drawn: session };
}

type Explanations = ReadonlyMap<string, ExplainedFlag>;

/**
 * Returns why each flag of a project is on or off for the chosen context; undefined until it is known, or without a
 * context. Earlier replies stay until the new ones arrive.
 */
export function useExplanations(project: string, environment: string, isAsked = true): Explanations | undefined {
  const context = viewAs.value;
  return useQuery(context && isAsked ? explanationsQuery({ project, environment, context }) : undefined).data;
}

interface ExplanationScope {
  readonly project: string;
  readonly environment: string;
  readonly context: Context;
}

function explanationsQuery({ project, environment, context }: ExplanationScope): Query<Explanations> {
  return {
    action: 'explainFlags',
    parameters: ['all', project, environment, context],
    async read({ signal }) {
      const scope = { environment, project: project || undefined, context: drawnContext(context).context };
      const explanations = new Map<string, ExplainedFlag>();
      let from: string | undefined;
      do {
        const body = { ...scope, ...(from !== undefined && { from }) };
        const { data } = await call('explainFlags', { body, signal });
        for (const explained of data.features) explanations.set(explained.name, explained);
        from = data.next;
      } while (from !== undefined);
      return { data: explanations };
    },
  };
}
