import { startSharedServer } from './shared-server.js';

export default startSharedServer;
