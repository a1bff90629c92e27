import { call, type Reply } from '../api/call.js';
import { type Query, type QueryState, useQuery } from '../api/resource.js';
import type { FlagPage, ListedFlag } from '../api/types.js';

/** The flags of one project, or of all: `''`. Shows the first page while the rest arrives in pages of 1,000. */
interface FlagList {
  readonly flags: readonly ListedFlag[];
  readonly total: number;
  readonly isComplete: boolean;
}

const FIRST_PAGE = 100;
const PAGE = 1_000;
/** Above this number of changed flags, reads the whole list. */
const MAX_SINGLE = 5;

/** Reads the flags of a project and keeps them current. */
export function useFlagList(project: string, archived: boolean, isAsked = true): QueryState<FlagList> {
  return useQuery(isAsked ? flagListQuery({ archived, ...(project && { project }) }) : undefined);
}

type Scope = Readonly<Record<string, string | boolean>>;

function flagListQuery(scope: Scope): Query<FlagList> {
  const readAll: Query<FlagList>['read'] = async ({ signal, show }) => {
    const flags: ListedFlag[] = [];
    for (let query: Record<string, string | number | boolean> = { ...scope, limit: FIRST_PAGE }; ; ) {
      const { data, next }: Reply<FlagPage> = await call('listAllFlags', { query, signal });
      flags.push(...data.features);
      const after = next?.get('after');
      if (!after) return { data: { flags, total: data.total, isComplete: true } };
      show({ flags: [...flags], total: data.total, isComplete: false });
      query = { ...scope, limit: PAGE, after };
    }
  };
  return {
    action: 'listAllFlags',
    parameters: { ...scope, limit: 'all' },
    read: readAll,
    async readFlags(list, names, signal) {
      if (names.length > MAX_SINGLE) return (await readAll({ signal, show: () => undefined })).data;
      const found = await Promise.all(names.map((name) => readFlag(name, scope, signal)));
      const others = list.flags.filter(({ name }) => !names.includes(name));
      const flags = [...others, ...found.filter((flag) => flag !== undefined)];
      return { ...list, flags, total: list.total + flags.length - list.flags.length };
    },
  };
}

async function readFlag(name: string, scope: Scope, signal: AbortSignal): Promise<ListedFlag | undefined> {
  // The exact name sorts first among the names with this prefix.
  const { data } = await call('listAllFlags', { query: { ...scope, namePrefix: name, limit: 1 }, signal });
  return data.features.find((flag) => flag.name === name);
}
