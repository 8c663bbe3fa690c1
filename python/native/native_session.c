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

Session session;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t owner;
static bool busy;

/* What kernels print goes where Python's print goes. */
static void print_text(void *user, const char *text, size_t length) {
    (void)user;
    session_reenter_python();
    PyObject *file = PySys_GetObject("stdout"),
             *words = PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, "replace");
    if (file && file != Py_None && words && PyFile_WriteObject(words, file, Py_PRINT_RAW) < 0)
        PyErr_Clear();
    Py_XDECREF(words);
    PyErr_Clear();
    session_leave_python();
}

bool session_open(void) {
    if (session.context) return true;
    tw_context_options options;
    tw_context_options_init(&options);
    options.print = print_text;
    tw_status status = tw_context_create(&options, &session.context);
    if (status == TW_OK) return true;
    PyErr_SetString(PyExc_MemoryError, tw_status_text(status));
    return false;
}

bool session_enter(void) {
    if (session_try_enter()) return true;
    PyErr_SetString(PyExc_RuntimeError, "a kernel cannot be compiled or launched while another one "
                                        "is being compiled by the same thread");
    return false;
}

bool session_try_enter(void) {
    if (busy && pthread_equal(owner, pthread_self())) return false;
    PyThreadState *state = PyEval_SaveThread();
    pthread_mutex_lock(&lock);
    owner = pthread_self();
    busy = true;
    session.saved = state;
    return true;
}

void session_leave(void) {
    PyThreadState *state = session.saved;
    session.saved = NULL;
    busy = false;
    pthread_mutex_unlock(&lock);
    PyEval_RestoreThread(state);
}

void session_reenter_python(void) {
    PyEval_RestoreThread(session.saved);
}

void session_leave_python(void) {
    session.saved = PyEval_SaveThread();
}

PyObject *session_fail(tw_status status, PyObject *function) {
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
    if (error) PyErr_SetObject((PyObject *)Py_TYPE(error), error);
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
