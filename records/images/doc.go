// Package images reads and writes records as folders of PNG and JPEG files.
//
// If the schema has classes, a folder holds one subfolder for each class, with the class's name;
// otherwise the files lie in the folder itself. Every file is one record. Files are read in the
// order of classes, then of names. Files that do not end in .png, .jpg or .jpeg, and other
// subfolders, are ignored.
//
// If the schema is of colour images, grey files have three equal colours. If the schema is of grey
// images, colours become their luma (ITU-R BT.601). If the schema is of binary images, a luma of
// one half or more is 1. Transparent pixels are drawn on black. The orientation stored by a camera
// is not applied, and images are not scaled: scale them beforehand.
//
// Every file is read separately. A file that is damaged, too long, or an image of another size
// becomes a record of zeros. So no file affects how other files are read. [Check] lists these
// files.
//
// This package is separate from package records, so programs without images do not link the
// decoders.
package images
