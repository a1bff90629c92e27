import type { Route } from '../route.js';
import { archiveRoutes } from './archive.js';
import { changeRoutes } from './changes.js';
import { clientRoutes } from './client.js';
import { clientReportRoutes } from './client-reports.js';
import { definitionRoutes } from './definitions.js';
import { dependencyRoutes } from './dependencies.js';
import { environmentRoutes } from './environments.js';
import { eventRoutes } from './events.js';
import { featureRoutes } from './features.js';
import { flagRoutes } from './flags.js';
import { frontendRoutes } from './frontend.js';
import { historyRoutes } from './history.js';
import { memberRoutes } from './members.js';
import { metricsRoutes } from './metrics.js';
import { ofrepRoutes } from './ofrep.js';
import { playgroundRoutes } from './playground.js';
import { projectRoutes } from './projects.js';
import { segmentRoutes } from './segments.js';
import { openApiRoutes, sessionRoutes } from './session.js';
import { strategyRoutes } from './strategies.js';
import { tagRoutes } from './tags.js';
import { tokenRoutes } from './tokens.js';
import { usageRoutes } from './usage.js';
import { variantRoutes } from './variants.js';

/** All routes of the API. */
export const ROUTES: readonly Route[] = [
  ...projectRoutes,
  ...flagRoutes,
  ...featureRoutes,
  ...tagRoutes,
  ...strategyRoutes,
  ...environmentRoutes,
  ...variantRoutes,
  ...dependencyRoutes,
  ...segmentRoutes,
  ...memberRoutes,
  ...archiveRoutes,
  ...metricsRoutes,
  ...usageRoutes,
  ...eventRoutes,
  ...tokenRoutes,
  ...playgroundRoutes,
  ...clientRoutes,
  ...clientReportRoutes,
  ...frontendRoutes,
  ...ofrepRoutes,
  ...changeRoutes,
  ...historyRoutes,
  ...definitionRoutes,
  ...sessionRoutes,
  ...openApiRoutes,
];
