import './styles/main.css';
import { effect } from '@preact/signals';
import { options, render } from 'preact';
import { forgetReplies, invalidate, invalidateAfterChange } from './api/resource.js';
import { followChanges } from './api/stream.js';
import { App } from './app.js';
import { startTheme } from './parts/layout.js';
import { startRouter } from './router.js';
import { startKeys } from './state/keys.js';
import { isLetIn, startSession } from './state/session.js';

/** Browsers drop the roles of table elements when a style changes their `display`. */
const TABLE_ROLES: Readonly<Record<string, string>> = {
  table: 'table',
  thead: 'rowgroup',
  tbody: 'rowgroup',
  tr: 'row',
  td: 'cell',
};
const addAttributes = options.vnode;
options.vnode = (vnode) => {
  const props = vnode.props as { role?: string; scope?: string };
  const role = vnode.type === 'th' ? `${props.scope === 'row' ? 'row' : 'column'}header` : TABLE_ROLES[`${vnode.type}`];
  if (role !== undefined) props.role = role;
  addAttributes?.(vnode);
};

startTheme();
startRouter();
startSession();
startKeys();

effect(() => {
  if (isLetIn.value) return followChanges((flags) => void invalidateAfterChange(flags));
  forgetReplies();
  return undefined;
});

const MINUTE = 60_000;
setInterval(() => {
  if (!document.hidden) invalidate('listUsage', 'listFlagUsage');
}, MINUTE);

const place = document.getElementById('app');
if (place) {
  place.replaceChildren();
  render(<App />, place);
}
