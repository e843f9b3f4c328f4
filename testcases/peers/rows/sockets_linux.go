package rows

import (
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// sockets are read by one thread, with one buffer and one read for each socket
// that has something. A goroutine each cost half as much again: it was woken, and
// read a second time to learn that there was no more.
type sockets struct {
	poll, stop int // descriptors, once there is a thread
	count      func(t *tail, buf []byte, n int, err error)
	fds        []int
	wg         sync.WaitGroup
}

// add has conn read, and count called with what each read returns, until one
// returns an error. The socket is taken from conn, which is closed: the runtime
// would be told of everything that arrives.
func (s *sockets) add(conn net.Conn, count func(t *tail, buf []byte, n int, err error)) error {
	if s.count == nil {
		if err := s.begin(count); err != nil {
			return err
		}
	}
	defer conn.Close()
	fd, err := duplicate(conn)
	if err != nil {
		return err
	}
	s.fds = append(s.fds, fd)
	return s.watch(fd)
}

// duplicate is another descriptor of conn's socket, of which the runtime does not
// know.
func duplicate(conn net.Conn) (fd int, err error) {
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	if err := raw.Control(func(its uintptr) { fd, failed = unix.FcntlInt(its, unix.F_DUPFD_CLOEXEC, 0) }); err != nil {
		return 0, err
	}
	return fd, failed
}

func (s *sockets) begin(count func(t *tail, buf []byte, n int, err error)) (err error) {
	if s.poll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return err
	}
	if s.stop, err = unix.Eventfd(0, unix.EFD_CLOEXEC); err != nil {
		return err
	}
	s.count, s.fds = count, []int{s.poll, s.stop}
	if err := s.watch(s.stop); err != nil {
		return err
	}
	s.wg.Go(s.read)
	return nil
}

func (s *sockets) watch(fd int) error {
	return unix.EpollCtl(s.poll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
}

// read is the thread, until stop is ready.
func (s *sockets) read() {
	runtime.LockOSThread()
	buf, events := make([]byte, lead+256<<10), make([]unix.EpollEvent, 1024)
	tails := map[int]*tail{}
	for {
		n, err := unix.EpollWait(s.poll, events, -1)
		if err != nil && err != unix.EINTR {
			s.count(&tail{}, buf, 0, fmt.Errorf("epoll: %w", err))
			return
		}
		for _, e := range events[:max(n, 0)] {
			fd := int(e.Fd)
			if fd == s.stop {
				return
			}
			t := tails[fd]
			if t == nil {
				t = &tail{}
				tails[fd] = t
			}
			s.readOnce(fd, t, buf)
		}
	}
}

// readOnce reads a socket that has something. One that has ended is not looked at
// any more.
func (s *sockets) readOnce(fd int, t *tail, buf []byte) {
	n, err := unix.Read(fd, buf[lead:])
	switch {
	case err == unix.EINTR || err == unix.EAGAIN:
		return // it is still ready, or was not
	case err == nil && n == 0:
		err = io.EOF
	}
	if err != nil {
		_ = unix.EpollCtl(s.poll, unix.EPOLL_CTL_DEL, fd, nil)
	}
	s.count(t, buf, max(n, 0), err)
}

func (s *sockets) close() {
	if s.count == nil {
		return
	}
	_, _ = unix.Write(s.stop, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	s.wg.Wait()
	for _, fd := range s.fds {
		_ = unix.Close(fd)
	}
}
