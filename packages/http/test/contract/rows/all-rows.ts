import type { Row } from '../row.js';
import { archiveRows } from './archive.js';
import { bulkRows } from './bulk.js';
import { decisionRows } from './change-request-decisions.js';
import { requestRefusals } from './change-request-refusals.js';
import { changeRequestRows } from './change-requests.js';
import { changeRows } from './changes.js';
import { clientRows } from './client.js';
import { clientReadingRows } from './client-reading.js';
import { consumerRows } from './consumers.js';
import { definitionRows } from './definitions.js';
import { dependencyRows } from './dependencies.js';
import { edgeRows } from './edge.js';
import { eventRows } from './events.js';
import { featureRows } from './features.js';
import { flagChangeRows } from './flag-changes.js';
import { flagEnvironmentRows } from './flag-environment.js';
import { flagRows } from './flags.js';
import { frontendRows } from './frontend.js';
import { memberRows } from './members.js';
import { metricsRows } from './metrics.js';
import { ofrepRows } from './ofrep.js';
import { pageRows } from './pages.js';
import { playgroundRows } from './playground.js';
import { projectRows } from './projects.js';
import { rolloutRows } from './rollouts.js';
import { segmentRows } from './segments.js';
import { strategyRows } from './strategies.js';
import { switchingRows } from './switching.js';
import { tagRows } from './tags.js';
import { tokenRows } from './tokens.js';
import { toolRows } from './tools.js';
import { variantRows } from './variants.js';

/** The table of all written rows. */
export const WRITTEN_ROWS: readonly Row[] = [
  ...projectRows,
  ...flagRows,
  ...flagChangeRows,
  ...tagRows,
  ...featureRows,
  ...strategyRows,
  ...flagEnvironmentRows,
  ...switchingRows,
  ...variantRows,
  ...dependencyRows,
  ...segmentRows,
  ...memberRows,
  ...metricsRows,
  ...clientRows,
  ...clientReadingRows,
  ...bulkRows,
  ...edgeRows,
  ...frontendRows,
  ...ofrepRows,
  ...playgroundRows,
  ...archiveRows,
  ...tokenRows,
  ...toolRows,
  ...eventRows,
  ...consumerRows,
  ...rolloutRows,
  ...changeRequestRows,
  ...decisionRows,
  ...requestRefusals,
  ...changeRows,
  ...definitionRows,
  ...pageRows,
];
