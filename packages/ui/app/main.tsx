import './styles/main.css';
import { effect } from '@preact/signals';
import { render } from 'preact';
import { invalidate } from './api/resource.js';
import { followEvents } from './api/stream.js';
import { App } from './app.js';
import { startTheme } from './parts/layout.js';
import { startRouter } from './router.js';
import { version } from './state/changes.js';
import { applyHint, reloadFlagList } from './state/flag-list.js';
import { startKeys } from './state/keys.js';
import { isLetIn, startSession } from './state/session.js';

startTheme();
startRouter();
startSession();
startKeys();

effect(() => {
  if (!isLetIn.value) return;
  return followEvents((hint) => {
    if (hint === undefined) reloadFlagList();
    else applyHint(hint);
    version.value++;
    invalidate((action) => action !== 'getSession' && action !== 'listFlagUsage');
  });
});

const place = document.getElementById('app');
if (place) {
  place.replaceChildren();
  render(<App />, place);
}
