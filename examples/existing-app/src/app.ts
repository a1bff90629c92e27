import type { Flags } from '@flags/core';
import { createFlagsRouter, roles } from '@flags/express';
import { createFlagsUi } from '@flags/ui';
import express, { type Express, type RequestHandler } from 'express';
import session from 'express-session';
import helmet from 'helmet';
import { logIn, userWithId } from './users.js';

declare module 'express-session' {
  interface SessionData {
    userId?: number;
  }
}

/** A typical application: helmet, a body parser, sessions, a page; and the flags for its own users. */
export function createApp(flags: Flags, sessionSecret: string): Express {
  const app = express();
  app.use(helmet());
  app.use(express.json());
  app.use(express.urlencoded({ extended: false }));
  app.use(
    session({
      secret: sessionSecret,
      resave: false,
      saveUninitialized: false,
      cookie: { httpOnly: true, sameSite: 'strict' },
    }),
  );

  app.post('/login', (request, response, next) => {
    const user = logIn(request.body?.name, request.body?.password);
    if (user === undefined) {
      response.status(401).json({ message: 'Wrong name or password.' });
      return;
    }
    // A new id: somebody else may know the one from before the login.
    request.session.regenerate((error) => {
      if (error) return next(error);
      request.session.userId = user.id;
      if (request.is('urlencoded')) response.redirect(303, pathOnly(request.body.return));
      else response.json({ name: user.name });
    });
  });

  app.get('/login', (request, response) => {
    const target = pathOnly(request.query.return).replaceAll('"', '%22').replaceAll('<', '%3C');
    response.type('html').send(`<!doctype html><title>Log in</title><form method="post" action="/login">
<input type="hidden" name="return" value="${target}"><label>Name <input name="name" autocomplete="username"></label>
<label>Password <input name="password" type="password" autocomplete="current-password"></label><button>Log in</button></form>`);
  });

  app.use('/internal/flags', flagsRouter(flags));
  app.use('/internal/flags', createFlagsUi({ title: 'Shop flags', home: '/', signIn: '/login' }));

  app.get('/', (_request, response) => {
    response.send('The shop.');
  });
  return app;
}

/** Redirects only within this application after the login: to a path, or to the start page. */
function pathOnly(target: unknown): string {
  return typeof target === 'string' && /^\/(?![/\\])/.test(target) ? target : '/';
}

/** The flags' API for every logged-in user. The event log names the user who made a change. */
function flagsRouter(flags: Flags): RequestHandler {
  return createFlagsRouter(flags, {
    auth: (request) => userWithId(request.session.userId),
    authorize: (user, action) => roles[user.role](action),
  });
}
