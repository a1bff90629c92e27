// The roles, from the rows of the actions and the routes that ask for them.
import { code, table } from './markdown.mjs';
import { documentationOf, load, memberDocstrings, paragraphsOf } from './source.mjs';

const ACTIONS = 'packages/http/src/actions.ts';

export async function roles() {
  const { PERMISSION_ROWS, permissionOf } = await load(ACTIONS);
  const { GROUPS } = await load('packages/http/src/routes.ts');
  const docstrings = memberDocstrings(ACTIONS, 'ACTIONS');
  const left = new Map(PERMISSION_ROWS);

  function rowOf(name, { role, of, people }) {
    left.delete(name);
    const routes = GROUPS.flatMap((group) => group.routes).filter(({ action }) => permissionOf(action) === name);
    const own = routes.filter(({ action }) => action === name);
    const permits = [...new Set([...own, ...routes].map(({ summary }) => summary))];
    const text = [docstrings.get(name), ...permits].filter(Boolean);
    if (text.length === 0) throw new Error(`The action ${name} has no route, and no docstring.`);
    return [
      code(name),
      code(role),
      [of && 'null', people && 'people only'].filter(Boolean).join(', '),
      text.join('\n\n'),
    ];
  }

  function sectionOf(title, names) {
    const rows = [...new Set(names)].filter((name) => left.has(name)).map((name) => rowOf(name, left.get(name)));
    return rows.length > 0 ? [`## ${title}\n\n${table(['Action', 'Role', 'Asked', 'Permits'], rows)}`] : [];
  }

  const sections = GROUPS.flatMap(({ tag, routes }) =>
    sectionOf(
      tag,
      routes.map(({ action }) => permissionOf(action)),
    ),
  );
  const [, list] = paragraphsOf(documentationOf(ACTIONS, 'ACTIONS'));
  return `# Roles

The least role that may perform each action: ${code('viewer')}, ${code('editor')} or ${code('admin')}. A higher role may do it as well.
[The HTTP API](../http-api.md#give-each-user-a-role) says how to use them.

${list}

_Asked_ says ${code('null')} where ${code('authorize')} gets null in the place of a project, and _people only_ where API tokens and callers without
authentication are refused before it is asked. Every role refuses an action that is not here.

${[...sections, ...sectionOf('Parts of changes', [...left.keys()])].join('\n')}`;
}
