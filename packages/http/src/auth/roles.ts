import { type Action, PERMISSION_ROWS, type UserRole } from '../actions.js';

function actionsUpTo(...included: readonly UserRole[]): (action: Action) => boolean {
  const actions = new Set<string>(
    PERMISSION_ROWS.flatMap(([action, { role }]) => (included.includes(role) ? [action] : [])),
  );
  return (action) => actions.has(action);
}

/**
 * Ready-made answers for `authorize`: whether a role may perform an action. Actions that this release does not know are
 * refused.
 *
 * A role says nothing about projects: choose the role of the user in the project that `authorize` names. A null project
 * is the whole instance, so a role there is a role everywhere.
 *
 * @example
 * authorize: (actor, action) => isApiToken(actor) || roles[actor.role](action)
 */
export const roles: Readonly<Record<UserRole, (action: Action) => boolean>> = Object.freeze({
  // Without prototype, a role such as `constructor` is absent.
  __proto__: null,
  viewer: actionsUpTo('viewer'),
  editor: actionsUpTo('viewer', 'editor'),
  admin: actionsUpTo('viewer', 'editor', 'admin'),
});
