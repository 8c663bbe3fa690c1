/* SPDX-License-Identifier: Apache-2.0 */
/* native_session.c: the one context of the process, its lock, and errors as Python exceptions.
 *
 * A call into the library goes
 *
 *     if (!session_enter()) return NULL;      GIL given up, lock taken
 *     status = tw_...(session.context, ..);
 *     return session_leave_with(status, function);     GIL taken, messages read, lock given up
 *
 * or ends in session_leave() where nothing can fail. What the context gives is good until its next call, which may be
 * another thread's: it is read while the lock is held. Who has the lock may wait for the GIL, never the other way
 * round.
 *
 * Callbacks of the library (resolver, print) take the GIL for their own duration with
 * session_reenter_python. The lock is kept meanwhile: the context is in use. A callback that
 * launches a kernel itself would wait for its own thread; that is refused. */
#include "native.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

Session session;
Desk main_desk;
_Thread_local Desk *desk = &main_desk;
static Desk *free_desks, *busy_desks;                    /* under the GIL */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of main_desk */
static pthread_t owner;
static bool busy;

/* What kernels print goes where Python's print goes. */
static void print_text(void *user, const char *text, size_t length) {
    (void)user;
    session_reenter_python();
    PyObject *file = PySys_GetObject("stdout"), *words = PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, "replace");
    if (file && file != Py_None && words && PyFile_WriteObject(words, file, Py_PRINT_RAW) < 0) PyErr_Clear();
    Py_XDECREF(words);
    PyErr_Clear();
    session_leave_python();
}

/* While a call takes long, Python's signal handlers run as between two lines of Python, and what they
 * raise (KeyboardInterrupt) ends the call. In other threads than the main one there are none. */
static int32_t look_for_signals(void *user) {
    static _Thread_local unsigned questions;
    (void)user;
    if (++questions % 4) return 0; /* the GIL is not free of cost: every 200 ms will do */
    session_reenter_python();
    bool raised = PyErr_CheckSignals() != 0;
    if (raised) {
        PyObject *kind, *value, *trace;
        PyErr_Fetch(&kind, &value, &trace);
        PyErr_NormalizeException(&kind, &value, &trace);
        if (value && trace) PyException_SetTraceback(value, trace);
        Py_XDECREF(kind);
        Py_XDECREF(trace);
        replace(&desk->interrupt, value);
    }
    session_leave_python();
    return raised;
}

bool session_open(void) {
    if (desk->context) return true;
    tw_context_options options;
    tw_context_options_init(&options);
    options.print = print_text;
    options.poll = look_for_signals;
    if (desk != &main_desk) options.print = NULL; /* the compile that follows prints it */
    tw_status status = tw_context_create(&options, &desk->context);
    if (status == TW_OK) return true;
    PyErr_SetString(PyExc_MemoryError, tw_status_text(status));
    return false;
}

bool session_follow_cache(void) {
    if (!session.cache_dir || (desk->cache_dir && PyUnicode_Compare(desk->cache_dir, session.cache_dir) == 0))
        return true;
    const char *dir = PyUnicode_AsUTF8AndSize(session.cache_dir, NULL);
    if (!dir || !session_enter()) return false;
    tw_status status = tw_context_set_cache_dir(desk->context, dir);
    if (!session_leave_with(status, NULL)) return false;
    replace(&desk->cache_dir, Py_NewRef(session.cache_dir));
    return true;
}

bool session_take_desk(void) {
    if (desk != &main_desk) {
        PyErr_SetString(PyExc_RuntimeError, "this thread is compiling ahead already");
        return false;
    }
    Desk *taken = free_desks;
    if (taken)
        free_desks = taken->next;
    else if (!(taken = PyMem_Calloc(1, sizeof *taken)))
        return PyErr_NoMemory() != NULL;
    taken->next = busy_desks;
    busy_desks = desk = taken;
    if (session_open()) return true;
    session_leave_desk();
    return false;
}

void session_leave_desk(void) {
    Desk *left = desk;
    Py_CLEAR(left->cause);
    Py_CLEAR(left->interrupt);
    Desk **at = &busy_desks;
    while (*at && *at != left) at = &(*at)->next;
    if (*at) *at = left->next;
    left->next = free_desks;
    free_desks = left;
    desk = &main_desk;
}

void session_cancel_desks(void) {
    for (Desk *d = busy_desks; d; d = d->next)
        if (d->context) tw_context_cancel(d->context);
}

static bool is_mine(void) { return desk == &main_desk && busy && pthread_equal(owner, pthread_self()); }

static void own_lock(PyThreadState *state) {
    owner = pthread_self();
    busy = true;
    main_desk.saved = state;
}

/* Waits for the lock in small pieces, so that Ctrl-C ends a wait for another thread's launch. */
bool session_enter(void) {
    if (is_mine()) {
        PyErr_SetString(PyExc_RuntimeError, "a kernel cannot be compiled or launched while another one "
                                            "is being compiled by the same thread");
        return false;
    }
    PyThreadState *state = PyEval_SaveThread();
    if (desk != &main_desk) { /* nobody else has it */
        desk->saved = state;
        return true;
    }
    while (pthread_mutex_trylock(&lock) != 0) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 50000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (pthread_mutex_timedlock(&lock, &until) == 0) break;
        PyEval_RestoreThread(state);
        if (PyErr_CheckSignals() != 0) return false;
        state = PyEval_SaveThread();
    }
    own_lock(state);
    return true;
}

/* What dies is of the main desk: other desks leave nothing behind that Python holds. */
bool session_try_enter(void) {
    if (is_mine() || desk != &main_desk) return false;
    PyThreadState *state = PyEval_SaveThread();
    pthread_mutex_lock(&lock);
    own_lock(state);
    return true;
}

static void give_up_lock(void) {
    if (desk != &main_desk) return;
    busy = false;
    pthread_mutex_unlock(&lock);
}

void session_leave(void) {
    PyThreadState *state = desk->saved;
    desk->saved = NULL;
    give_up_lock();
    PyEval_RestoreThread(state);
}

void session_reenter_python(void) { PyEval_RestoreThread(desk->saved); }

void session_leave_python(void) { desk->saved = PyEval_SaveThread(); }

/* The messages of the last call, as Python takes them: [(severity, code, text, file, line, column, length, needed,
 * available, fix), ..]. */
static PyObject *list_diagnostics(void) {
    PyObject *list = PyList_New(0);
    tw_diagnostic d = {.struct_size = sizeof d};
    for (size_t i = 0; list && tw_context_diagnostic_at(desk->context, i, &d) == TW_OK; i++) {
        PyObject *row = Py_BuildValue("(ssszlllLLs)", d.severity, d.code, d.text, d.file, (long)d.line, (long)d.column,
                                      (long)d.length, (long long)d.needed, (long long)d.available, d.fix);
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* What a call left behind that failed. */
typedef struct Failure {
    PyObject *message, *rows; /* NULL: a Python error is set */
    PyObject *cause;          /* an exception of a callback, or None */
    PyObject *note;           /* of the compile, or None */
    PyObject *interrupt;      /* or NULL: a signal handler's exception, which ended the call */
} Failure;

static Failure take_failure(tw_status status) {
    Failure f = {.cause = desk->cause ? desk->cause : Py_NewRef(Py_None)};
    const char *message = tw_context_message(desk->context);
    if (!message || !*message) message = tw_status_text(status);
    desk->cause = NULL;
    if (status == TW_ERROR_CANCELLED) {
        f.interrupt = desk->interrupt;
        desk->interrupt = NULL;
    }
    f.note = Py_NewRef(desk->note ? desk->note : Py_None);
    f.message = PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "replace");
    f.rows = f.message ? list_diagnostics() : NULL;
    return f;
}

static void raise_failure(tw_status status, const Failure *f, PyObject *function) {
    PyObject *error = NULL;
    if (!f->rows) return;
    if (session.make_error)
        error = PyObject_CallFunction(session.make_error, "sOOOOO", tw_status_name(status), f->message, f->rows,
                                      function ? function : Py_None, f->cause, f->note);
    else
        PyErr_SetObject(PyExc_RuntimeError, f->message);
    if (error && PyObject_IsInstance(error, PyExc_BaseException) == 1)
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    else if (error)
        PyErr_SetString(PyExc_TypeError, "make_error gave no exception");
    Py_XDECREF(error);
}

bool session_leave_with(tw_status status, PyObject *function) {
    if (status == TW_OK) {
        session_leave();
        return true;
    }
    PyEval_RestoreThread(desk->saved);
    desk->saved = NULL;
    Failure f = take_failure(status);
    give_up_lock();
    if (f.interrupt)
        PyErr_SetObject((PyObject *)Py_TYPE(f.interrupt), f.interrupt);
    else
        raise_failure(status, &f, function);
    Py_XDECREF(f.message);
    Py_XDECREF(f.rows);
    Py_XDECREF(f.interrupt);
    Py_DECREF(f.cause);
    Py_DECREF(f.note);
    return false;
}

/* A forked child has the context's memory and none of its threads: it starts with a new one. What
 * the old one holds is left to the end of the process. */
static void after_fork(void) {
    pthread_mutex_init(&lock, NULL);
    busy = false;
    main_desk = (Desk){0};
    desk = &main_desk;
    free_desks = busy_desks = NULL;
    session.generation++;
}

bool session_init(void) {
    session.generation = 1;
    return pthread_atfork(NULL, NULL, after_fork) == 0;
}
