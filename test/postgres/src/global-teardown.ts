import { closeSharedServer } from './shared-server.js';

export default closeSharedServer;
