package extension

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a process and its children: a job, which the system ends when the last
// handle of it is closed, and so with the host. The zero value has none.
type group struct{ job windows.Handle }

// start starts the leader. A child that it starts before it is in the job is not
// found.
func (g *group) start(cmd *exec.Cmd, start func(*exec.Cmd) error) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP} // Ctrl-C is for the host
	job, err := newJob()
	if err != nil {
		return err
	}
	// Close it only when nobody can kill by it any more.
	g.job = job
	runtime.AddCleanup(g, func(job windows.Handle) { _ = windows.CloseHandle(job) }, job)
	if err := start(cmd); err != nil {
		return err
	}
	if err := assign(job, cmd.Process); err != nil {
		return errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	return nil
}

// newJob makes a job that ends with its last handle.
func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, os.NewSyscallError("CreateJobObject", err)
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		return 0, errors.Join(os.NewSyscallError("SetInformationJobObject", err), windows.CloseHandle(job))
	}
	return job, nil
}

func assign(job windows.Handle, p *os.Process) error {
	var err error
	unknown := p.WithHandle(func(h uintptr) { err = windows.AssignProcessToJobObject(job, windows.Handle(h)) })
	return errors.Join(unknown, os.NewSyscallError("AssignProcessToJobObject", err))
}

// terminate is kill: here a process cannot be asked.
func (g *group) terminate() { g.kill() }

// kill ends the process and its children.
func (g *group) kill() { _ = windows.TerminateJobObject(g.job, 1) }
