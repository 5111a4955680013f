"""What hostile code in a sandbox would try. Prints a JSON object: for each attack what it achieved, or null.

Run twice: in the sandbox, where none may achieve anything, and with all rights in a disposable copy of the machine, where
each must (else it proves nothing). Whatever could do harm is only opened, never written, unless it is the test's own.
Arguments: a JSON object that says where things are, then names of attacks; all of them by default.
"""

import os


def descriptors():
    """What was open is closed, or leads to nothing."""
    found = {}
    for name in os.listdir('/proc/self/fd'):
        try:
            target = os.readlink(f'/proc/self/fd/{name}')
        except OSError:
            continue
        if int(name) > 2 and target != '/dev/null':
            found[name] = target
    return found or None


# Before anything is loaded that opens files of its own.
inherited = descriptors()

import ctypes
import errno
import json
import signal
import socket
import stat
import subprocess
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
machine = os.uname().machine
where = json.loads(sys.argv[1])
attacks = {}

#: Refusals by rights, by what is mounted, by what is not there.
BLOCKED = {errno.EPERM, errno.EACCES, errno.EROFS, errno.ENOENT, errno.ESRCH, errno.ENXIO, errno.ENODEV, errno.ENOTDIR,
           errno.ENOSYS, errno.ECONNREFUSED, errno.ENETUNREACH, errno.EIO}


def attack(f):
    attacks[f.__name__.replace('_', '-')] = f
    return f


def call(result):
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def reached(what, refusals=BLOCKED):
    """A call that is made with senseless arguments: any other error than a refusal says that it would have been done."""
    try:
        what()
    except OSError as error:
        return None if error.errno in refusals else f'answered {errno.errorcode[error.errno]}'
    return 'done'


def numbers(x86, arm):
    return {'x86_64': x86, 'aarch64': arm}[machine]


def syscall(x86, arm, *arguments):
    return call(libc.syscall(ctypes.c_long(numbers(x86, arm)), *[
        ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]))


def mount(source, target, kind, flags, data=None):
    encode = lambda text: None if text is None else text.encode()
    call(libc.mount(encode(source), encode(target), encode(kind), ctypes.c_ulong(flags), encode(data)))
    return f'mounted {kind or flags} on {target}'


def append(path, text='HACK'):
    with open(path, 'a') as file:
        file.write(text)
    return f'wrote {path}'


def writable(top, limit=20000):
    """Files beneath a folder that can be opened for writing. Opening alone changes nothing."""
    found = []
    for folder, _, names in os.walk(top):
        for name in names:
            limit -= 1
            path = os.path.join(folder, name)
            try:
                if not stat.S_ISREG(os.lstat(path).st_mode):
                    continue
                os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
                found.append(path)
            except OSError:
                pass
        if limit < 0 or len(found) > 3:
            break
    return found or None


def processes():
    return [int(name) for name in os.listdir('/proc') if name.isdigit()]


def victim():
    """A process of the machine's, as it can be found."""
    for pid in processes():
        try:
            with open(f'/proc/{pid}/cmdline', 'rb') as file:
                if where['victim'].encode() in file.read() and pid != os.getpid() and pid != os.getppid():
                    return pid
        except OSError:
            pass
    raise ProcessLookupError(errno.ESRCH, 'not to be seen')


# -- files of the machine


@attack
def write_system_files():
    return append('/etc/passwd', '#')


@attack
def make_system_files():
    return append(f'/usr/bin/{where["name"]}')


@attack
def write_what_everybody_may():
    return append(where['open'])


@attack
def make_where_everybody_may():
    return append(os.path.join(where['public'], 'made'))


@attack
def remove_what_everybody_may():
    os.rename(os.path.join(where['public'], 'there'), os.path.join(where['public'], 'gone'))
    return 'renamed'


@attack
def read_data_folder():
    with open(where['secret']) as file:
        return file.read()


@attack
def list_layers():
    return os.listdir(where['layers'])


@attack
def reach_layers_through_processes():
    """Every root, working folder and open folder of every process, with all the way up from there."""
    for pid in processes():
        links = [f'/proc/{pid}/root', f'/proc/{pid}/cwd']
        try:
            links += [f'/proc/{pid}/fd/{name}' for name in os.listdir(f'/proc/{pid}/fd')]
        except OSError:
            pass
        for link in links:
            for way in ('', '/..' * 12):
                if os.path.exists(f'{link}{way}{where["secret"]}') and os.access(f'{link}{way}{where["secret"]}', os.R_OK):
                    return f'{link}{way}'


@attack
def open_by_handle():
    """A file by its inode, past every mount."""
    class Handle(ctypes.Structure):
        _fields_ = [('bytes', ctypes.c_uint), ('type', ctypes.c_int), ('handle', ctypes.c_ubyte * 128)]
    handle = Handle()
    handle.bytes = 128
    ident = ctypes.c_int()
    call(libc.name_to_handle_at(-100, where['open'].encode(), ctypes.byref(handle), ctypes.byref(ident), 0))
    folder = os.open(os.path.dirname(where['open']), os.O_RDONLY)
    return reached(lambda: call(libc.open_by_handle_at(folder, ctypes.byref(handle), os.O_RDONLY)))


@attack
def see_shared_memory_of_the_machine():
    with open(where['shm']) as file:
        return file.read()


@attack
def system_v_shared_memory():
    return call(libc.shmget(where['key'], 0, 0)) >= 0 and 'found'


@attack
def reach_devices():
    """The disk that the machine runs from."""
    device = os.makedev(where['major'], where['minor'])
    for folder in ('.', '/tmp', '/dev/shm', os.environ.get('HOME', '/')):
        path = os.path.join(folder, where['name'] + '-disk')
        try:
            os.mknod(path, 0o600 | stat.S_IFBLK, device)
            return f'made {path}'
        except FileExistsError:
            return f'found {path}'
        except OSError:
            pass


@attack
def memory_devices():
    for path in ('/dev/mem', '/dev/kmem', '/dev/port', '/proc/kcore'):
        try:
            with open(path, 'rb', 0) as file:
                if file.read(1):
                    return path
        except OSError:
            pass


# -- the kernel's own files


@attack
def core_pattern():
    os.close(os.open('/proc/sys/kernel/core_pattern', os.O_WRONLY))
    return 'opened'


@attack
def sysctl():
    return writable('/proc/sys')


@attack
def sysctl_through_process_one():
    return writable('/proc/1/root/proc/sys') if os.getpid() != 1 else None


@attack
def sysrq():
    os.close(os.open('/proc/sysrq-trigger', os.O_WRONLY))
    return 'opened'


@attack
def sys_files():
    return writable('/sys/kernel') or writable('/sys/power') or writable('/sys/module')


@attack
def control_groups():
    found = []
    for folder, _, names in os.walk('/sys/fs/cgroup'):
        if os.access(folder, os.W_OK) or any(os.access(os.path.join(folder, name), os.W_OK) for name in names):
            return folder
    return found or None


@attack
def kernel_modules():
    return reached(lambda: syscall(175, 105, None, 0, ctypes.c_char_p(b'')))


@attack
def bpf():
    return reached(lambda: syscall(321, 280, 5, None, 0))


@attack
def reboot():
    return reached(lambda: syscall(169, 142, 0, 0, 0, None))


@attack
def swap():
    return reached(lambda: syscall(168, 225, ctypes.c_char_p(b'/')))


@attack
def kernel_log():
    return reached(lambda: syscall(103, 116, 3, ctypes.create_string_buffer(64), 64))


@attack
def host_name():
    socket.sethostname(where['name'])
    return 'set'


@attack
def raw_sockets():
    socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).close()
    return 'made'


@attack
def high_priority():
    os.setpriority(os.PRIO_PROCESS, 0, -20)
    return 'set'


# -- mounts and namespaces


@attack
def mount_something():
    return mount('t', '/mnt', 'tmpfs', 0)


@attack
def make_root_writable():
    return mount(None, '/', None, 32 | 4096)


@attack
def mount_control_groups():
    return mount('c', '/mnt', 'cgroup2', 0)


@attack
def mount_proc():
    return mount('p', '/mnt', 'proc', 0)


@attack
def unmount():
    for target in (os.getcwd(), '/tmp', '/proc', '/dev/shm', '/run', os.path.dirname(where['secret'])):
        if libc.umount2(target.encode(), 2) == 0:
            return target


@attack
def mount_namespace():
    os.unshare(os.CLONE_NEWNS) if hasattr(os, 'unshare') else call(libc.unshare(0x20000))
    return 'made'


@attack
def user_namespace():
    """Where a namespace of one's own can be had, one has every capability in it."""
    call(libc.unshare(0x10000000))
    return 'made'


@attack
def enter_namespaces():
    for pid in processes():
        for kind in ('mnt', 'pid', 'net', 'user', 'ipc', 'uts'):
            try:
                fd = os.open(f'/proc/{pid}/ns/{kind}', os.O_RDONLY)
            except OSError:
                continue
            if libc.setns(fd, 0) == 0:
                return f'{kind} of {pid}'


@attack
def change_root():
    call(libc.chroot(b'/usr'))
    return 'changed'


# -- other processes


@attack
def see_processes():
    return f'process {victim()}'


@attack
def signal_processes():
    os.kill(victim(), 0)
    return 'sent'


@attack
def trace_processes():
    pid = victim()
    call(libc.ptrace(16, pid, None, None))
    return f'attached to {pid}'


@attack
def signal_by_number():
    """As the machine numbers it: there it is the test itself."""
    os.kill(where['pid'], 0)
    return 'sent'


@attack
def environment_of_others():
    for pid in processes():
        try:
            with open(f'/proc/{pid}/environ', 'rb') as file:
                if pid not in (os.getpid(), os.getppid()) and where['variable'].encode() in file.read():
                    return f'of {pid}'
        except OSError:
            pass


# -- ways out by descriptors, sockets and terminals


@attack
def inherited_descriptors():
    return inherited


def connect(address):
    with socket.socket(socket.AF_UNIX) as one:
        one.settimeout(5)
        one.connect(address)
        return one.recv(100).decode()


@attack
def socket_of_the_data_folder():
    return connect(where['host_socket'])


@attack
def socket_of_the_machine():
    return connect(where['run_socket'])


@attack
def abstract_socket():
    return connect('\0' + where['abstract'])


@attack
def docker_socket():
    return os.path.exists('/var/run/docker.sock') and 'there' or None


@attack
def terminal_of_the_host():
    os.close(os.open('/dev/tty', os.O_RDWR))
    return 'opened'


@attack
def set_user_on_execution():
    """A program of root's that anybody may run as root; tried as an ordinary user."""
    program = next((path for path in ('/usr/bin/su', '/bin/su', '/usr/bin/passwd', '/usr/bin/mount')
                    if os.path.exists(path) and os.stat(path).st_mode & stat.S_ISUID), None)
    if program is None:
        return None
    become = None if os.getuid() else (lambda: (os.setgid(65534), os.setuid(65534)))
    started = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               preexec_fn=become)
    try:
        for _ in range(200):
            with open(f'/proc/{started.pid}/status') as file:
                lines = dict(line.split(':', 1) for line in file)
            if lines['Uid'].split()[1] == '0' and lines['Name'].strip() in program:
                return f'{program} is root'
    except OSError:
        pass
    finally:
        started.kill()
        started.wait()


# -- destruction; asked for by name only


def remove_everything():
    os.chdir('/')
    there = os.path.exists(where['open'])
    gone = lambda: there and not os.path.exists(where['open'])
    words = ['rm', '-rf', '--no-preserve-root', where['workspace'], os.path.dirname(where['open']), '/']
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as removing:
        for _ in range(100):
            if removing.poll() is not None or gone():
                break
            time.sleep(0.1)
        removing.kill()
    return 'removed' if gone() else None


def kill_everything():
    try:
        prey = victim()
    except OSError:
        prey = None
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(-1, number)
        except OSError:
            pass
    # What was sent a signal dies of it in its own time.
    for _ in range(200):
        try:
            with open(f'/proc/{prey}/stat') as file:
                if prey and file.read().rsplit(') ')[1][0] == 'Z':
                    return 'killed'
        except OSError:
            return prey and 'killed'
        time.sleep(0.01)
    return None


def apart(name, action):
    """Each in a process of its own: it may change what the next one finds."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        signal.alarm(20)
        # Where it can be had: with mounts of its own.
        libc.unshare(0x20000)
        try:
            result = action()
        except OSError:
            result = None
        except BaseException as error:
            result = f'{type(error).__name__}: {error}'
        os.write(writing, json.dumps(result).encode())
        os._exit(0)
    os.close(writing)
    said = b''
    while chunk := os.read(reading, 65536):
        said += chunk
    os.close(reading)
    os.waitpid(pid, 0)
    return json.loads(said) if said else 'died'


wanted = sys.argv[2:]
if wanted == ['remove-everything']:
    print(json.dumps({wanted[0]: remove_everything()}))
elif wanted == ['kill-everything']:
    print(json.dumps({wanted[0]: kill_everything()}))
else:
    print(json.dumps({name: apart(name, action) for name, action in attacks.items() if not wanted or name in wanted}))
