/* native_session.c: the one context of the process, its lock, and errors as Python exceptions.
 *
 * A call into the library goes
 *
 *     if (!session_enter()) return NULL;      GIL given up, lock taken
 *     status = tw_...(session.context, ..);
 *     session_leave();                        lock given up, GIL taken
 *     if (status) return session_fail(status, function);
 *
 * Callbacks of the library (resolver, print) take the GIL for their own duration with
 * session_reenter_python. The lock is kept meanwhile: the context is in use. A callback that
 * launches a kernel itself would wait for its own thread; that is refused. */
#include "native.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

Session session;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
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
    static unsigned questions;
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
        replace(&session.interrupt, value);
    }
    session_leave_python();
    return raised;
}

bool session_open(void) {
    if (session.context) return true;
    tw_context_options options;
    tw_context_options_init(&options);
    options.print = print_text;
    options.poll = look_for_signals;
    tw_status status = tw_context_create(&options, &session.context);
    if (status == TW_OK) return true;
    PyErr_SetString(PyExc_MemoryError, tw_status_text(status));
    return false;
}

static bool is_mine(void) { return busy && pthread_equal(owner, pthread_self()); }

static void own_lock(PyThreadState *state) {
    owner = pthread_self();
    busy = true;
    session.saved = state;
}

/* Waits for the lock in small pieces, so that Ctrl-C ends a wait for another thread's launch. */
bool session_enter(void) {
    if (is_mine()) {
        PyErr_SetString(PyExc_RuntimeError, "a kernel cannot be compiled or launched while another one "
                                            "is being compiled by the same thread");
        return false;
    }
    PyThreadState *state = PyEval_SaveThread();
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

bool session_try_enter(void) {
    if (is_mine()) return false;
    PyThreadState *state = PyEval_SaveThread();
    pthread_mutex_lock(&lock);
    own_lock(state);
    return true;
}

void session_leave(void) {
    PyThreadState *state = session.saved;
    session.saved = NULL;
    busy = false;
    pthread_mutex_unlock(&lock);
    PyEval_RestoreThread(state);
}

void session_reenter_python(void) { PyEval_RestoreThread(session.saved); }

void session_leave_python(void) { session.saved = PyEval_SaveThread(); }

PyObject *session_fail(tw_status status, PyObject *function) {
    if (status == TW_ERROR_CANCELLED && session.interrupt) {
        PyObject *raised = session.interrupt;
        session.interrupt = NULL;
        PyErr_SetObject((PyObject *)Py_TYPE(raised), raised);
        Py_DECREF(raised);
        return NULL;
    }
    PyObject *cause = session.cause ? session.cause : Py_NewRef(Py_None);
    session.cause = NULL;
    const char *message = tw_context_message(session.context);
    if (!message || !*message) message = tw_status_text(status);
    PyObject *error = NULL;
    if (session.make_error)
        error = PyObject_CallFunction(session.make_error, "ssOOO", tw_status_name(status), message,
                                      function ? function : Py_None, cause, session.note ? session.note : Py_None);
    else
        PyErr_SetString(PyExc_RuntimeError, message);
    Py_DECREF(cause);
    if (error && PyObject_IsInstance(error, PyExc_BaseException) == 1)
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    else if (error)
        PyErr_SetString(PyExc_TypeError, "make_error gave no exception");
    Py_XDECREF(error);
    return NULL;
}

/* A forked child has the context's memory and none of its threads: it starts with a new one. What
 * the old one holds is left to the end of the process. */
static void after_fork(void) {
    pthread_mutex_init(&lock, NULL);
    busy = false;
    session.context = NULL;
    session.stream = NULL;
    session.compiling = NULL;
    session.generation++;
}

bool session_init(void) {
    session.generation = 1;
    return pthread_atfork(NULL, NULL, after_fork) == 0;
}
